package toolinput_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/text/toolinput"
)

func TestAPersonReadsWhatAToolWouldDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ input, want string }{
		"a command is a command":           {`{"command":"rm -rf build\nmake","description":"Build anew","timeout":5}`, "$ rm -rf build\nmake\ndescription: Build anew\ntimeout: 5"},
		"a change is a diff":               {`{"file_path":"/a.go","old_string":"one\ntwo\nthree","new_string":"one\n2\nthree","replace_all":false}`, "/a.go\n one\n-two\n+2\n three\nreplace_all: false"},
		"a new file is all added":          {`{"file_path":"/a","content":"x\ny\n"}`, "/a\n+x\n+y"},
		"a removed text is all gone":       {`{"file_path":"/a","old_string":"x","new_string":""}`, "/a\n-x"},
		"an address is an address":         {`{"url":"https://example.com/","prompt":"read"}`, "https://example.com/\nprompt: read"},
		"what is not known is named":       {`{"b":[1,2],"a":{"x":null}}`, "a: {\n  \"x\": null\n}\nb: [\n  1,\n  2\n]"},
		"a command that is a list is kept": {`{"command":["bash","-c","id"]}`, "command: [\n  \"bash\",\n  \"-c\",\n  \"id\"\n]"},
	} {
		if diff := cmp.Diff(c.want, toolinput.Text([]byte(c.input))); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Whatever the input is, a person reads every line of it.
func FuzzText(f *testing.F) {
	f.Add([]byte(`{"command":"a","cmd":"b"}`))
	f.Add([]byte(`{"old_string":"a\nb","new_string":"a\nc","path":"p"}`))
	f.Add([]byte(`{"content":"","url":"u","patch":"x"}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		read := toolinput.Text(input)
		var fields map[string]string
		if json.Unmarshal(input, &fields) != nil {
			return
		}
		for name, text := range fields {
			for line := range strings.SplitSeq(text, "\n") {
				if !strings.Contains(read, line) {
					t.Errorf("%q of %q is not in %q", line, name, read)
				}
			}
		}
	})
}
