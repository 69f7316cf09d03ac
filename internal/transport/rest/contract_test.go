package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// Document is openapi.yaml as the routes, the table of operations and their Go
// types say it should be.
func Document() ([]byte, error) {
	sources, err := readSources()
	if err != nil {
		return nil, err
	}
	c := &contract{shapes: shapes{source: sources, named: map[string]node{}}, parameters: map[string]node{}}
	paths := node{}
	for _, r := range (&server{}).routes() {
		paths = c.route(paths, r)
	}
	parameters := node{}
	for _, name := range slices.Sorted(maps.Keys(c.parameters)) {
		parameters = parameters.with(name, c.parameters[name])
	}
	var page bytes.Buffer
	page.WriteString(documentHead)
	page.WriteString("x-shared:\n  caller: &caller\n")
	for _, p := range callerHeaders {
		fmt.Fprintf(&page, "    - %s\n", flow(c.parameter(p)))
	}
	for by := introduced; by <= counted; by++ {
		fmt.Fprintf(&page, "  %s: &%s\n", namings[by], namings[by])
		for _, e := range headers(by) {
			writeYAML(&page, 2, e.key, flowed(flow(e.value)))
		}
	}
	page.WriteString("\n")
	writeYAML(&page, 0, "paths", paths)
	writeYAML(&page, 0, "components", node{
		{"securitySchemes", node{{"token", node{{"type", "http"}, {"scheme", "bearer"}, {"description", "A token, as `c3po token create` makes it. /livez, /readyz and /api/health need none."}}}}},
		{"parameters", parameters},
		{"headers", c.answerHeaders()},
		{"responses", node{{"Error", node{{"description", "The request was refused or failed."}, {"headers", alias("introduced")}, {"content", content("", c.of(reflect.TypeFor[c3po.Error](), ""))}}}}},
		{"schemas", c.sorted()},
	})
	return page.Bytes(), nil
}

const documentHead = `# Generated from routes.go, the table of operations and their Go types. Run make contract after a change of these.
openapi: 3.1.0
info:
  title: c3po
  version: "1"
  license: {name: Apache-2.0, identifier: Apache-2.0}
  description: |
    Coding agents ask each other for help.

    A caller proves who it is with a token in the header Authorization, and says as which agent it acts with the header X-Agent-ID. ` + "`POST /api/op/{name}`" + ` takes the arguments of the tool of that name and answers with
    plain JSON; the other paths are for hooks, scripts and monitoring. Lists are bare arrays; when there is more, the header Link holds the
    same request with the cursor of the next page. On /api/op the cursor goes into the arguments.

    Every error has the form of the schema Error. A wait that brings nothing is a result, not an error.
security:
  - token: []
servers:
  - {url: /}
  - {url: /agent, description: The same paths for agents in containers}
tags:
  - {name: core, description: The tools an agent has by default}
  - {name: more, description: Further tools}
  - {name: rooms, description: Rooms and broadcasts}
  - {name: diag, description: Diagnostics}
  - {name: compat, description: The five tools of the first design}
  - {name: bridge, description: 'The agent-to-agent bridge: tickets, and its tools'}
  - {name: c2c, description: The tools of c2c}
  - {name: client, description: What programs need beside the tools}
  - {name: admin, description: 'Tokens and invitations, for admins'}
  - {name: join, description: For hosts that are to join}
  - {name: login, description: For browsers}
  - {name: proof, description: 'Passkeys, and what a person confirms with them'}
  - {name: rest, description: 'For hooks, scripts and monitoring'}

`

// namings are how the document calls the headers of answers.
var namings = map[naming]string{introduced: "introduced", paged: "paged", counted: "counted"}

// An alias stands for what is written once, under x-shared.
type alias string

// flowed is YAML already.
type flowed string

type contract struct {
	shapes
	parameters map[string]node
}

// route adds a route to the paths, which name each path once.
func (c *contract) route(paths node, r route) node {
	a := r.about
	n := node{{"operationId", a.id}, {"tags", []string{a.tag}}, {"summary", a.says}}.unless("description", a.more)
	if len(a.takes) > 0 {
		var all []node
		for _, p := range a.takes {
			all = append(all, c.parameter(p))
		}
		if len(a.takes) == len(callerHeaders) {
			n = n.with("parameters", alias("caller"))
		} else {
			n = n.with("parameters", all)
		}
	}
	prefix := map[string]string{"compat": "Compat", "bridge": "Bridge"}[a.tag]
	if a.body != nil {
		body := c.of(reflect.TypeOf(a.body), prefix)
		if a.closed {
			c.close(strings.TrimPrefix(body[0].value.(string), "#/components/schemas/"))
		}
		needed := slices.ContainsFunc(fieldsOf(reflect.TypeOf(a.body)), func(f field) bool { return f.always })
		n = n.with("requestBody", node{{"required", needed}, {"content", content("", body)}})
	}
	answers := node{}
	for _, answer := range a.answers {
		answers = answers.with(strconv.Itoa(answer.status), c.answer(answer, prefix))
	}
	if !a.open {
		answers = answers.with("default", reference("responses", "Error"))
	}
	for _, beside := range a.beside {
		c.of(reflect.TypeOf(beside), prefix)
	}
	method := entry{strings.ToLower(r.method), n.with("responses", answers)}
	if at := slices.IndexFunc(paths, func(e entry) bool { return e.key == r.path }); at >= 0 {
		paths[at].value = append(paths[at].value.(node), method)
		return paths
	}
	item := node{}
	if !strings.HasPrefix(r.path, apiPrefix) {
		item = item.with("servers", []node{{{"url", "/"}}})
	}
	return paths.with(r.path, append(item, method))
}

func (c *contract) parameter(p parameter) node {
	schema := node{{"type", "string"}}
	if p.kind != nil {
		schema = slices.Clone(c.of(reflect.TypeOf(p.kind), ""))
	}
	if schema[0].value == "integer" {
		schema = schema.with("minimum", p.least)
		if p.most > 0 {
			schema = schema.with("maximum", p.most)
		}
	} else if p.most > 0 {
		schema = schema.with("maxLength", p.most)
	}
	if p.otherwise > 0 {
		schema = schema.with("default", p.otherwise)
	}
	n := node{{"name", p.name}, {"in", p.in}}
	if p.in == "path" {
		n = n.with("required", true)
	}
	n = n.unless("description", p.says).with("schema", schema.unless("pattern", p.form))
	if p.ref == "" {
		return n
	}
	c.parameters[p.ref] = n
	return reference("parameters", p.ref)
}

// answer describes what is answered. A listing is a bare array, its next page
// in a header.
func (c *contract) answer(r reply, prefix string) node {
	n := node{{"description", r.says}}
	by := r.by
	t := reflect.TypeOf(r.body)
	if t != nil {
		if list, ok := reflect.New(t).Interface().(c3po.Listing); ok {
			by = paged
			if _, ok := list.(*c3po.MessageList); ok {
				by = counted
			}
			t = reflect.TypeOf(list.Rows()).Elem()
		}
	}
	if by != anonymous {
		n = n.with("headers", alias(namings[by]))
	}
	if t != nil {
		n = n.with("content", content(r.media, c.of(t, prefix)))
	}
	return n
}

func content(media string, schema node) node {
	return node{{cmp.Or(media, "application/json"), node{{"schema", schema}}}}
}

func headers(by naming) node {
	all := node{{"X-C3PO-Version", reference("headers", "Version")}, {"X-C3PO-Protocol", reference("headers", "Protocol")},
		{c3po.ActedAsHeader, reference("headers", "Agent")}, {c3po.EpochHeader, reference("headers", "Epoch")}}
	if by >= paged {
		all = all.with("Link", reference("headers", "Next"))
	}
	if by == counted {
		all = all.with(CountHeader, reference("headers", "Count"))
	}
	return all
}

func (c *contract) answerHeaders() node {
	text, number := node{{"type", "string"}}, node{{"type", "integer"}}
	return node{
		{"Agent", node{{"description", "The id the caller acted as"}, {"schema", c.of(reflect.TypeFor[c3po.AgentID](), "")}}},
		{"Epoch", node{{"description", "The epoch of the caller's run"}, {"schema", number}}},
		{"Next", node{{"description", `The next page, rel="next"`}, {"schema", text}}},
		{"Version", node{{"description", "The version of the coordinator; every answer has it"}, {"schema", text}}},
		{"Protocol", node{{"description", "The oldest and the newest protocol that the coordinator speaks with clients of ours"}, {"schema", text}}},
		{"Count", node{{"description", "How many messages there are in all"}, {"schema", number}}},
	}
}

// maxLineBytes is how long a line may be before what is in it is written in several.
const maxLineBytes = 180

// writeYAML writes an entry as YAML: on one line if it fits, but paths and methods
// always have a line of their own.
func writeYAML(page *bytes.Buffer, indent int, key string, value any) {
	margin := strings.Repeat("  ", indent)
	line := margin + yamlKey(key) + ": " + flow(value)
	n, object := value.(node)
	if !object || len(n) == 0 || indent > 2 && len(line) <= maxLineBytes {
		list, ok := value.([]node)
		if !ok || len(line) <= maxLineBytes {
			fmt.Fprintln(page, line)
			return
		}
		fmt.Fprintf(page, "%s%s:\n", margin, yamlKey(key))
		for _, item := range list {
			fmt.Fprintf(page, "%s  - %s\n", margin, flow(item))
		}
		return
	}
	fmt.Fprintf(page, "%s%s:\n", margin, yamlKey(key))
	for _, e := range n {
		writeYAML(page, indent+1, e.key, e.value)
	}
}

// flow is a value on one line.
func flow(value any) string {
	switch value := value.(type) {
	case node:
		parts := make([]string, len(value))
		for i, e := range value {
			parts[i] = yamlKey(e.key) + ": " + flow(e.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []node:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = flow(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []string:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = yamlText(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return yamlText(value)
	case alias:
		return "*" + string(value)
	default:
		return fmt.Sprint(value)
	}
}

var (
	plainKey  = regexp.MustCompile(`^[A-Za-z_$/][A-Za-z0-9_./{}$-]*$`)
	plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	yamlWord  = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

func yamlKey(key string) string {
	if plainKey.MatchString(key) && !yamlWord.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

func yamlText(text string) string {
	if plainText.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSpace(quoted.String())
}
