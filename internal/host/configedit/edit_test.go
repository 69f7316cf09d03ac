package configedit_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/configedit"
)

func TestWhatCannotBeReadIsRefusedAndSaysWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\"a\": }":           "line 2, column 6: invalid character '}' at start of value",
		"{\"a\": 1 \"b\": 2}":   "expecting ',' or '}'",
		"[1]":                   "no JSON object",
		"{\"a\": 1} x":          "after top-level value",
		"{ /* ":                 "parsing comment: unexpected EOF",
		`{"mcpServers": 1}`:     "mcpServers is not an object",
		`{"hooks":{"Stop":{}}}`: "hooks.Stop is not a list",
	} {
		_, _, err := oursJSON().Add([]byte(text))
		if e := c3po.AsError(err); e == nil || !strings.Contains(e.Message, want) || !strings.Contains(e.Suggestion, "nothing was changed") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"a = ":                       "it is not valid TOML",
		"mcp_servers = { a = 1 }\n":  "cannot be added",
		"[hooks]\nStop = [1]\n":      "cannot be added",
		"mcp_servers.c3po = \"x\"\n": "cannot be added",
	} {
		_, err := oursTOML().Add([]byte(text))
		if e := c3po.AsError(err); e == nil || !strings.Contains(e.Message, want) || !strings.Contains(e.Suggestion, "nothing was changed") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAFileWithCommentsIsReadForWhatItMeans(t *testing.T) {
	t.Parallel()
	var got struct{ A []int }
	err := configedit.DecodeJSON([]byte("{ // a list\n  \"a\": [1, /* two */ 2,],\n}"), &got)
	if err != nil || len(got.A) != 2 || got.A[1] != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if err := configedit.DecodeJSON(nil, &got); err != nil {
		t.Error(err)
	}
	if err := configedit.DecodeJSON([]byte(`{"a": "text"}`), &got); err == nil {
		t.Error("a text is taken for a list")
	}
}

func TestKeysOfAPersonInATableOfOursStay(t *testing.T) {
	t.Parallel()
	out, err := oursTOML().Add([]byte("[mcp_servers.c3po]\nenabled = false # not now\ncommand = \"/old\"\n\n[z]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "[mcp_servers.c3po]\nenabled = false # not now\ncommand = \"/opt/c3po\"\nargs = [\"mcp\"]\n\n[z]\n"; !strings.HasPrefix(string(out), want) {
		t.Errorf("%s", out)
	}
}

// Programs read such files too, so ours goes in and out again.
func TestOddFilesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{} // ends with the file",
		"\ufeff{\"a\": 1}\n",
		"{\n  // caf\xe9, and \u2028 a line that is none\n  \"a\": 1\n}\n",
		"{\"a\": \"\u2028\xff\"}",
		"{\"a\":1,\"b\":[1,2,],}",
		"{\n  // like /* this */\n}",
		"{\n  \"a\": 1 // like */\n}",
	} {
		roundTripJSON(t, text)
	}
	var got struct{ A string }
	if err := configedit.DecodeJSON([]byte("{\"a\": \"x\u2028y\"} // so"), &got); err != nil || got.A != "x\u2028y" {
		t.Errorf("%q, %v", got.A, err)
	}
	if _, _, err := oursJSON().Add([]byte(strings.Repeat("[", 1<<20))); !strings.Contains(err.Error(), "nested too deeply") {
		t.Error(err)
	}
}
