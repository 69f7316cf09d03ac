package configedit_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/internal/host/configedit"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// A property is tried on 1,000 random files, unless -rapid.checks says otherwise.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "1000"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func oursJSON() configedit.JSON {
	return configedit.JSON{
		Members: []configedit.Member{
			{Path: []string{"mcpServers", "c3po"}, Value: map[string]any{"command": "/opt/c3po", "args": []string{"mcp", "<&>"}}},
			{Path: []string{"ui", "deep", "flag"}, Value: true},
		},
		Elements: []configedit.Element{
			{Path: []string{"hooks", "Stop"}, Value: map[string]any{"command": "c3po hook"}, Mark: "c3po hook"},
		},
	}
}

func TestInstallingInJSONAndTakingItOutIsTheIdentity(t *testing.T) {
	t.Parallel()
	seed.Check(t, func(t *rapid.T) { roundTripJSON(t, jsonText(t, false)) })
}

func TestInstallingInJSONWithCommentsAndTakingItOutIsTheIdentity(t *testing.T) {
	t.Parallel()
	seed.Check(t, func(t *rapid.T) { roundTripJSON(t, jsonText(t, true)) })
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func roundTripJSON(t failer, before string) {
	t.Helper()
	ours := oursJSON()
	added, undo, err := ours.Add([]byte(before))
	if err != nil {
		t.Fatalf("Add: %v\n%s", err, before)
	}
	if !strings.Contains(string(added), "/opt/c3po") {
		t.Fatalf("it is not there:\n%s", added)
	}
	if json.Valid([]byte(before)) && !json.Valid(added) {
		t.Fatalf("JSON has become something else:\n%s\n->\n%s", before, added)
	}
	again, _, err := ours.Add(added)
	if err != nil || string(again) != string(added) {
		t.Fatalf("twice is not once (%v):\n%s", err, cmp.Diff(string(added), string(again)))
	}
	edited, _, err := configedit.JSON{Members: []configedit.Member{{Path: []string{"person"}, Value: 1}}}.Add(added)
	if err != nil {
		t.Fatalf("an edit of the person's: %v", err)
	}
	out, err := ours.Remove(added, undo)
	if err != nil || string(out) != before {
		t.Fatalf("not as before (%v):\n%s\nwith it:\n%s", err, cmp.Diff(before, string(out)), added)
	}
	out, err = ours.Remove(edited, undo)
	if err != nil || !strings.Contains(string(out), `"person"`) || strings.Contains(string(out), "c3po") {
		t.Fatalf("of an edited file is left (%v):\n%s", err, out)
	}
}

// jsonText is a random object, written as nobody would.
func jsonText(t *rapid.T, comments bool) string {
	if rapid.IntRange(0, 30).Draw(t, "blank") == 0 {
		return rapid.SampledFrom([]string{"", "\n", "  \n"}).Draw(t, "blank file")
	}
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	space := func() string {
		kinds := []string{"", " ", newline, newline + "  ", newline + "\t", " " + newline + newline + "    "}
		if comments {
			kinds = append(kinds, " // it's \"{"+newline, "/* }, \" */", newline+"// a"+newline+"// b  "+newline+"  ")
		}
		return rapid.SampledFrom(kinds).Draw(t, "space")
	}
	trailing := func(n int) string {
		if comments && n > 0 && rapid.Bool().Draw(t, "trailing comma") {
			return "," + space()
		}
		return ""
	}
	var value func(depth int) string
	object := func(depth int, fixed map[string]func() string) string {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "\\u00e9 \\\"x", "c d", "$schema"}), 0, 3, rapid.ID[string]).Draw(t, "names")
		for _, name := range []string{"mcpServers", "hooks", "ui"} {
			if fixed[name] != nil && rapid.Bool().Draw(t, "with "+name) {
				names = append(names, name)
			}
		}
		if len(names) > 1 {
			names = rapid.Permutation(names).Draw(t, "order")
		}
		text := "{" + space()
		for i, name := range names {
			if i > 0 {
				text += "," + space()
			}
			v := value
			if made := fixed[name]; made != nil {
				v = func(int) string { return made() }
			}
			text += `"` + name + `"` + space() + ":" + space() + v(depth+1) + space()
		}
		return text + trailing(len(names)) + "}"
	}
	array := func(depth int) string {
		n := rapid.IntRange(0, 3).Draw(t, "elements")
		text := "[" + space()
		for i := range n {
			if i > 0 {
				text += "," + space()
			}
			text += value(depth+1) + space()
		}
		return text + trailing(n) + "]"
	}
	value = func(depth int) string {
		switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
		case kind == 0 && depth < 4:
			return object(depth, nil)
		case kind == 1 && depth < 4:
			return array(depth)
		default:
			return rapid.SampledFrom([]string{`"x"`, `"// no comment, \\"`, `"}"`, "1", "-2.5e3", "true", "null", `""`}).Draw(t, "scalar")
		}
	}
	return space() + object(0, map[string]func() string{
		"mcpServers": func() string { return object(1, nil) },
		"ui":         func() string { return object(1, nil) },
		"hooks": func() string {
			return object(1, map[string]func() string{"hooks": func() string { return array(2) }})
		},
	}) + space()
}

func oursTOML() configedit.TOML {
	return configedit.TOML{Tables: []configedit.Table{
		{Path: []string{"mcp_servers", "c3po"}, Keys: []configedit.Key{{Name: "command", Value: `"/opt/c3po"`}, {Name: "args", Value: `["mcp"]`}}},
		{Path: []string{"hooks", "Stop"}, Array: true, Mark: "c3po_hook", Keys: []configedit.Key{{Name: "hooks", Value: `[{ tool = "c3po_hook" }]`}}},
		{Path: []string{"hooks", "state", `/a "b":stop:0:0`}, Keys: []configedit.Key{{Name: "trusted_hash", Value: `"sha256:00"`}}},
	}}
}

func TestInstallingInTOMLAndTakingItOutIsTheIdentity(t *testing.T) {
	t.Parallel()
	seed.Check(t, func(t *rapid.T) { roundTripTOML(t, tomlText(t)) })
}

func roundTripTOML(t failer, before string) {
	t.Helper()
	ours := oursTOML()
	added, err := ours.Add([]byte(before))
	if err != nil {
		t.Fatalf("Add: %v\n%s", err, before)
	}
	var was, is map[string]any
	if err := toml.Unmarshal([]byte(before), &was); err != nil {
		t.Fatalf("the test has made no TOML: %v\n%s", err, before)
	}
	if err := toml.Unmarshal(added, &is); err != nil || is["mcp_servers"].(map[string]any)["c3po"] == nil {
		t.Fatalf("%v\n%s", err, added)
	}
	again, err := ours.Add(added)
	if err != nil || string(again) != string(added) {
		t.Fatalf("twice is not once (%v):\n%s", err, cmp.Diff(string(added), string(again)))
	}
	out, err := ours.Remove(added)
	if err != nil || string(out) != before {
		t.Fatalf("not as before (%v):\n%s\nwith it:\n%s", err, cmp.Diff(before, string(out)), added)
	}
	// A person, or the client itself, writes behind ours and into ours.
	tail := "\n# mine\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"
	below := "\n[mcp_servers.c3po.tools.send_message]\napproval_mode = \"approve\"\n"
	out, err = ours.Remove([]byte(string(added) + "\n" + below + tail))
	if diff := cmp.Diff(lines(before+"\n"+tail), lines(string(out))); err != nil || diff != "" {
		t.Fatalf("of an edited file is left (%v):\n%s", err, diff)
	}
}

// lines are those with something in them.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
}

// tomlText is a random file with all forms of values, headers and comments.
func tomlText(t *rapid.T) string {
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	n := 0
	name := func() string {
		n++
		return fmt.Sprintf(rapid.SampledFrom([]string{"k%d", `"k %d.[x]"`, `'k#%d'`, "k%d.sub", `k%d . "a=b"`}).Draw(t, "name"), n)
	}
	values := []string{
		"1", "true", `"a # no comment"`, `'C:\x'`, `"\"[x]\""`, "1979-05-27T07:32:00Z", `[1, 2]`, `{ a = 1, b = "}" }`,
		"[" + newline + `  "[y]", # a ] comment` + newline + "  [1]," + newline + "]",
		`"""` + newline + "[not a header]" + newline + `x = "1" \"""` + newline + `"""`,
		"'''" + newline + "# text" + newline + "[[no]]''''",
	}
	between := func() string {
		return rapid.SampledFrom([]string{"", "", newline, "# [comment]" + newline, "  " + newline + newline}).Draw(t, "between")
	}
	keys := func() string {
		text := ""
		for range rapid.IntRange(0, 3).Draw(t, "keys") {
			text += between() + rapid.SampledFrom([]string{"", "  "}).Draw(t, "indent") + name() + " = " + rapid.SampledFrom(values).Draw(t, "value") +
				rapid.SampledFrom([]string{"", " # why", "  "}).Draw(t, "behind") + newline
		}
		return text
	}
	text := keys()
	for range rapid.IntRange(0, 5).Draw(t, "tables") {
		n++
		text += between() + fmt.Sprintf(rapid.SampledFrom([]string{
			"[t%d]", "[mcp_servers.s%d]", "[ mcp_servers . \"s %d\" ] # c", "[[list]]", "[[hooks.Stop]]", "[hooks.state.\"h%d\"]", "[a.'b.%d'.c]",
		}).Draw(t, "header"), n) + newline
		text = strings.ReplaceAll(text, fmt.Sprintf("]]%%!(EXTRA int=%d)", n), "]]") + keys()
	}
	text += between()
	if rapid.Bool().Draw(t, "without a last newline") {
		text = strings.TrimSuffix(text, newline)
	}
	return text
}
