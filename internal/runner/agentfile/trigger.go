package agentfile

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/c3po-dev/c3po/c3po"
)

// A TriggerType is a kind of event that starts a container.
type TriggerType string

// The kinds of triggers.
const (
	TriggerC3PO    TriggerType = "c3po"    // mail has come
	TriggerScript  TriggerType = "script"  // a command ended well
	TriggerCron    TriggerType = "cron"    // it is time
	TriggerFile    TriggerType = "file"    // a file or folder has changed
	TriggerWebhook TriggerType = "webhook" // this host has posted to a port on loopback
)

// A Trigger starts a container when it fires.
type Trigger struct {
	Type     TriggerType
	Command  string   // of a script
	Schedule Schedule // of cron
	Path     string   // of a file: a full path; of a webhook: that of its address
	Port     int      // of a webhook
}

var webPathForm = regexp.MustCompile(`^/[A-Za-z0-9._~/-]{0,127}$`)

// triggerTypes are the kinds, and the keys each has besides its type; those with
// a question mark may be left out.
func triggerTypes() []struct {
	name TriggerType
	keys []string
} {
	return []struct {
		name TriggerType
		keys []string
	}{
		{TriggerC3PO, nil},
		{TriggerScript, []string{"command"}},
		{TriggerCron, []string{"schedule"}},
		{TriggerFile, []string{"path"}},
		{TriggerWebhook, []string{"port", "path?"}},
	}
}

func triggerTypeNames() []string {
	var names []string
	for _, t := range triggerTypes() {
		names = append(names, string(t.name))
	}
	return names
}

// A writtenTrigger is one as it stands in the file.
type writtenTrigger struct {
	kind   string
	values map[string]ast.Node
}

func triggerValues() []string { return []string{"command", "schedule", "path", "port"} }

func triggerKeys(w *writtenTrigger) []key {
	keys := []key{{"type", func(r reader, v ast.Node) (err error) {
		w.kind, err = r.oneOf(v, "type", triggerTypeNames())
		return err
	}}}
	for _, name := range triggerValues() {
		keys = append(keys, key{name, func(_ reader, v ast.Node) error { w.values[name] = v; return nil }})
	}
	return keys
}

// triggers is the list of them. The path of a file may be within the workspace,
// which is therefore known by now.
func (r reader) triggers(v ast.Node, a *Agent) ([]Trigger, error) {
	list, ok := v.(*ast.SequenceNode)
	if !ok {
		return nil, r.at(v).refuse("triggers takes a list").Suggest("Write each behind a dash: `- c3po`, or `- type: script` with its command below.")
	}
	var all []Trigger
	for _, item := range list.Values {
		t, err := r.trigger(item, a)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (r reader) trigger(item ast.Node, a *Agent) (Trigger, error) {
	w := writtenTrigger{values: map[string]ast.Node{}}
	var err error
	switch item.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		err = r.fill(item, "a trigger", triggerKeys(&w))
	default:
		w.kind, err = r.oneOf(item, "a trigger", triggerTypeNames())
	}
	if err != nil {
		return Trigger{}, err
	}
	if w.kind == "" {
		return Trigger{}, r.at(item).refuse("this trigger has no type").Suggest("Give it one: %s.", strings.Join(triggerTypeNames(), ", "))
	}
	t := Trigger{Type: TriggerType(w.kind)}
	for _, kind := range triggerTypes() {
		if kind.name != t.Type {
			continue
		}
		if err := r.complete(item, w, kind.keys); err != nil {
			return Trigger{}, err
		}
	}
	return t, r.take(&t, w, a)
}

// complete says that a trigger has what its type needs, and nothing else.
func (r reader) complete(item ast.Node, w writtenTrigger, keys []string) error {
	allowed := map[string]bool{}
	for _, name := range keys {
		optional := strings.HasSuffix(name, "?")
		name = strings.TrimSuffix(name, "?")
		allowed[name] = true
		if w.values[name] == nil && !optional {
			return r.at(item).refuse("a trigger of type %s needs %s", w.kind, name).Suggest("Write `%s: …` below its type.", name)
		}
	}
	for _, name := range triggerValues() {
		if value := w.values[name]; value != nil && !allowed[name] {
			return r.at(value).refuse("a trigger of type %s has no %s", w.kind, name).Suggest("Take it out, or give the trigger another type.")
		}
	}
	return nil
}

// take reads the values of a trigger that is complete.
func (r reader) take(t *Trigger, w writtenTrigger, a *Agent) error {
	var err error
	switch t.Type {
	case TriggerScript:
		t.Command, err = r.text(w.values["command"], "command")
		if err == nil && strings.TrimSpace(t.Command) == "" {
			return r.at(w.values["command"]).refuse("command has no text").Suggest("Give the command that ends well when there is work.")
		}
	case TriggerCron:
		t.Schedule, err = r.schedule(w.values["schedule"])
	case TriggerFile:
		t.Path, err = r.watchedPath(w.values["path"], a)
	case TriggerWebhook:
		if err = r.port(t, w.values["port"]); err == nil {
			t.Path, err = r.webPath(w.values["path"])
		}
	}
	return err
}

func (r reader) schedule(v ast.Node) (Schedule, error) {
	text, err := r.text(v, "schedule")
	if err != nil {
		return Schedule{}, err
	}
	s, err := ParseSchedule(text)
	if err != nil {
		return Schedule{}, r.at(v).refuse("%s", err.Error()).Suggest("%s", c3po.AsError(err).Suggestion)
	}
	return s, nil
}

// watchedPath is what a trigger looks at: a full path, or one within the workspace.
func (r reader) watchedPath(v ast.Node, a *Agent) (string, error) {
	text, err := r.text(v, "path")
	if err != nil {
		return "", err
	}
	if text == "" || strings.HasPrefix(text, "~") || filepath.IsAbs(text) {
		return r.folder(v, "path")
	}
	if !filepath.IsLocal(text) {
		return "", r.at(v).refuse("path %.80q leaves the workspace", text).Suggest("Write the full path.")
	}
	return filepath.Join(a.Workspace, text), nil
}

func (r reader) port(t *Trigger, v ast.Node) error {
	text, err := r.text(v, "port")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 65535 {
		return r.at(v).refuse("port cannot be %.80q", text).Suggest("Give a number from 1 to 65535; it is opened on 127.0.0.1 alone.")
	}
	t.Port = n
	return nil
}

func (r reader) webPath(v ast.Node) (string, error) {
	if v == nil {
		return "/", nil
	}
	text, err := r.text(v, "path")
	if err == nil && !webPathForm.MatchString(text) {
		return "", r.at(v).refuse("path cannot be %.80q", text).Suggest("Give the path of an address, for example /deploy.")
	}
	return text, err
}
