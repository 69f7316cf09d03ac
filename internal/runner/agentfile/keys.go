package agentfile

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/c3po-dev/c3po/c3po"
)

var (
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	imageForm    = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/@-]{0,255}$`)
	modelForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}$`)
	memoryForm   = regexp.MustCompile(`^([1-9][0-9]*[kmg]|all)$`)
	cpusForm     = regexp.MustCompile(`^([0-9]+(\.[0-9]{1,3})?|all)$`)
	// An address of git that names a program, such as ext::, is none of these.
	remoteForm = regexp.MustCompile(`^((https|ssh|git|file)://[^\s:-][^\s]*|/[^\s]+|[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9.-]+:[^:\s-][^\s]*)$`)
	branchForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)*$`)
)

// agentKeys are those of an agent's block; the first is what the short form gives.
// Triggers are only kept: what they mean depends on the rest of the block.
func agentKeys(a *Agent, triggers *ast.Node) []key {
	return []key{
		{"workspace", func(r reader, v ast.Node) (err error) { a.Workspace, err = r.folder(v, "workspace"); return err }},
		{"host", func(r reader, v ast.Node) (err error) { a.Host, err = r.host(v); return err }},
		{"client", func(r reader, v ast.Node) (err error) { a.Client, err = r.oneOf(v, "client", r.Clients); return err }},
		{"via", func(r reader, v ast.Node) (err error) { a.Via, err = r.oneOf(v, "via", []string{ViaACP}); return err }},
		{"image", matching(&a.Image, "image", imageForm, "Give a name such as registry.example/team/agent:1.")},
		{"model", matching(&a.Model, "model", modelForm, "Give a name such as opus.")},
		{"env", func(r reader, v ast.Node) (err error) { a.Env, err = r.variables(v); return err }},
		{"init", func(r reader, v ast.Node) (err error) { a.Init, err = r.texts(v, "init"); return err }},
		{"prompt", func(r reader, v ast.Node) (err error) { a.Prompt, err = r.prompt(v); return err }},
		{"triggers", func(_ reader, v ast.Node) error { *triggers = v; return nil }},
		{"post_run", func(r reader, v ast.Node) (err error) { a.PostRun, err = r.texts(v, "post_run"); return err }},
		{"push", func(r reader, v ast.Node) (err error) { a.Push, err = r.push(v); return err }},
		{"network", func(r reader, v ast.Node) (err error) { a.Network, err = r.oneOf(v, "network", Networks()); return err }},
		{"memory", func(r reader, v ast.Node) (err error) {
			a.Memory, err = r.oneOf(v, "memory", []string{MemoryThread})
			return err
		}},
		{"limits", func(r reader, v ast.Node) error { return r.fill(v, "limits", limitKeys(&a.Limits)) }},
	}
}

func limitKeys(l *Limits) []key {
	return []key{
		{"runs_per_hour", count(&l.RunsPerHour, "runs_per_hour")},
		{"run_timeout", duration(&l.RunTimeout, "run_timeout", 24*time.Hour)},
		{"stop_grace", duration(&l.StopGrace, "stop_grace", 10*time.Minute)},
		{"memory", matching(&l.Memory, "memory", memoryForm, "Give a size such as 512m or 2g, or all.")},
		{"cpus", cpus(&l.CPUs)},
		{"pids", count(&l.PIDs, "pids")},
	}
}

// folder is a full path. A path that depends on where the runner was started
// would be another folder on another day.
func (r reader) folder(v ast.Node, what string) (string, error) {
	text, err := r.text(v, what)
	if err != nil {
		return "", err
	}
	path := text
	if text == "~" || strings.HasPrefix(text, "~/") {
		path = filepath.Join(r.Home, strings.TrimPrefix(text, "~"))
	}
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", r.at(v).refuse("%s %.80q is not a full path", what, text).Suggest("Begin it with / or with ~/.")
	}
	// A colon parts the two sides of a mount.
	if strings.Contains(path, ":") && filepath.VolumeName(path) == "" {
		return "", r.at(v).refuse("%s %.80q has a colon in it", what, text).Suggest("Container runtimes cannot mount such a folder; rename it.")
	}
	return filepath.Clean(path), nil
}

func (r reader) host(v ast.Node) (string, error) {
	text, err := r.text(v, "host")
	if err != nil {
		return "", err
	}
	if id, err := c3po.ParseAgentID(text + "/x"); err != nil || id.Reserved() {
		return "", r.at(v).refuse("%.80q cannot be a host", text).Suggest("A host has 1-64 of A-Z a-z 0-9 _ . - and starts with a letter or digit.")
	}
	return text, nil
}

func (r reader) oneOf(v ast.Node, what string, words []string) (string, error) {
	text, err := r.text(v, what)
	if err != nil || slices.Contains(words, text) {
		return text, err
	}
	refused := r.at(v).refuse("%s cannot be %.80q", what, text)
	if near := nearest(text, words); near != "" {
		return "", refused.Suggest("Did you mean %s?", near)
	}
	return "", refused.Suggest("It may be: %s.", strings.Join(words, ", "))
}

// prompt is what the client is asked. One that begins with a dash would be taken
// for an option of the client.
func (r reader) prompt(v ast.Node) (string, error) {
	text, err := r.text(v, "prompt")
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "" || strings.ContainsRune(text, 0):
		return "", r.at(v).refuse("prompt has no text").Suggest("Say what the agent is to do, or take the line out.")
	case strings.HasPrefix(text, "-"):
		return "", r.at(v).refuse("prompt begins with a dash").Suggest("Begin it with a word.")
	case len(text) > maxPromptBytes:
		return "", r.at(v).refuse("prompt has %d bytes, at most %d are taken", len(text), maxPromptBytes).Suggest("Put the long part into a file of the workspace and name it.")
	}
	return text, nil
}

// push is where results go: an address, or one with a branch.
func (r reader) push(v ast.Node) (*Push, error) {
	p := &Push{}
	keys := []key{
		{"to", matching(&p.To, "to", remoteForm, "Give an address of git, for example git@github.com:you/project.git.")},
		{"branch", matching(&p.Branch, "branch", branchForm, "Give a name such as agent/reviewer.")},
	}
	switch v.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		if err := r.fill(v, "push", keys); err != nil {
			return nil, err
		}
	default:
		if err := r.set(v, keys[0]); err != nil {
			return nil, err
		}
	}
	if p.To == "" {
		return nil, r.at(v).refuse("push has no address").Suggest("Give it one: `to: git@github.com:you/project.git`.")
	}
	return p, nil
}

// variables are those of the mapping, in its order.
func (r reader) variables(v ast.Node) ([]Variable, error) {
	pairs, err := r.pairs(v, "env")
	if err != nil {
		return nil, err
	}
	var all []Variable
	for _, pair := range pairs {
		name, err := r.key(pair)
		if err != nil {
			return nil, err
		}
		if !variableForm.MatchString(name) {
			return nil, r.at(pair.Key).refuse("%.80q cannot be the name of a variable", name).Suggest("Use letters, digits and _, and no digit first.")
		}
		if _, empty := pair.Value.(*ast.NullNode); empty {
			all = append(all, Variable{Name: name, Inherit: true})
			continue
		}
		value, err := r.text(pair.Value, name)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(value, 0) {
			return nil, r.at(pair.Value).refuse("%s has a zero byte in it", name).Suggest("No program can be given such a variable.")
		}
		all = append(all, Variable{Name: name, Value: value})
	}
	return all, nil
}

func matching(to *string, what string, form *regexp.Regexp, advice string) func(reader, ast.Node) error {
	return func(r reader, v ast.Node) error {
		text, err := r.text(v, what)
		if err != nil {
			return err
		}
		if !form.MatchString(text) {
			return r.at(v).refuse("%s cannot be %.80q", what, text).Suggest("%s", advice)
		}
		*to = text
		return nil
	}
}

func count(to *int, what string) func(reader, ast.Node) error {
	return func(r reader, v ast.Node) error {
		text, err := r.text(v, what)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1_000_000 {
			return r.at(v).refuse("%s cannot be %.80q", what, text).Suggest("Give a whole number from 1.")
		}
		*to = n
		return nil
	}
}

func cpus(to *string) func(reader, ast.Node) error {
	return func(r reader, v ast.Node) error {
		if err := matching(to, "cpus", cpusForm, "Give a number such as 2 or 0.5, or all.")(r, v); err != nil {
			return err
		}
		if *to == All {
			return nil
		}
		if n, err := strconv.ParseFloat(*to, 64); err != nil || n < 0.01 || n > 4096 {
			return r.at(v).refuse("cpus cannot be %.80q", *to).Suggest("Give a number from 0.01.")
		}
		return nil
	}
}

func duration(to *time.Duration, what string, most time.Duration) func(reader, ast.Node) error {
	return func(r reader, v ast.Node) error {
		text, err := r.text(v, what)
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second || d > most {
			return r.at(v).refuse("%s cannot be %.80q", what, text).Suggest("Give a time with its unit, from 1s to %s, for example 30s.", most)
		}
		*to = d
		return nil
	}
}
