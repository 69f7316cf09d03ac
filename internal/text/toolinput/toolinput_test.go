package toolinput_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/text/toolinput"
)

func TestAPersonReadsWhatAToolWouldDo(t *testing.T) {
	t.Parallel()
	read(t, map[string]example{
		"a command is a command":           {`{"command":"rm -rf build\nmake\n","description":"Build anew","timeout":5}`, "$ rm -rf build\n  make\ndescription: Build anew\ntimeout: 5"},
		"a change is a diff":               {`{"file_path":"/a.go","old_string":"one\ntwo\nthree","new_string":"one\n2\nthree","replace_all":false}`, "file: /a.go\n one\n-two\n+2\n three\nreplace_all: false"},
		"a new file is all added":          {`{"file_path":"/a","content":"x\ny\n"}`, "file: /a\n+x\n+y"},
		"an empty file is called that":     {`{"file_path":"/a","content":""}`, "file: /a\n ⟨empty⟩"},
		"a removed text is all gone":       {`{"file_path":"/a","old_string":"x","new_string":""}`, "file: /a\n-x"},
		"an address is an address":         {`{"url":"https://example.com/","prompt":"read"}`, "url: https://example.com/\nprompt: read"},
		"what is not known is named":       {`{"b":[1,2],"a":{"x":null}}`, "a: {\n    \"x\": null\n  }\nb: [\n    1,\n    2\n  ]"},
		"a command that is a list is kept": {`{"command":["bash","-c","id"]}`, "command: [\n    \"bash\",\n    \"-c\",\n    \"id\"\n  ]"},
		"a patch is a block":               {`{"patch":"--- a\n+++ b\n+x\n"}`, "patch:\n  --- a\n  +++ b\n  +x"},
		"several edits are numbered": {
			`{"file_path":"/a","edits":[{"old_string":"a\nb","new_string":"a\nc"},{"old_string":"x","new_string":"","replace_all":true}],"z":1}`,
			"file: /a\nedit 1 of 2:\n a\n-b\n+c\nedit 2 of 2:\n-x\nedit 2, replace_all: true\nz: 1",
		},
		"edits that are something else are kept": {`{"edits":[{"old_string":"a","new_string":"b"},{"at":1}]}`,
			"edits: [\n    {\n      \"new_string\": \"b\",\n      \"old_string\": \"a\"\n    },\n    {\n      \"at\": 1\n    }\n  ]"},
		"unchanged lines far from the change are counted": {
			`{"path":"/a","old_string":"1\n2\n3\n4\n5\nold\n6\n7\n8\n9","new_string":"1\n2\n3\n4\n5\nnew\n6\n7\n8\n9"}`,
			"file: /a\n ⟨2 lines unchanged⟩\n 3\n 4\n 5\n-old\n+new\n 6\n 7\n 8\n ⟨1 line unchanged⟩",
		},
	})
}

func TestNoValuePosesAsAnotherField(t *testing.T) {
	t.Parallel()
	read(t, map[string]example{
		"a command":                {`{"command":"rm -rf ~/work\ndescription: List files\ntimeout: 5000"}`, "$ rm -rf ~/work\n  description: List files\n  timeout: 5000"},
		"a field":                  {`{"a":"x\n$ ls\n+y"}`, "a: x\n  $ ls\n  +y"},
		"an address":               {`{"url":"$ ls\n$ id"}`, "url: $ ls\n  $ id"},
		"a patch":                  {`{"path":"/a","patch":"$ ls\nfile: /b"}`, "file: /a\npatch:\n  $ ls\n  file: /b"},
		"the name of a field":      {`{"command":"id","a: b\nc":1,"-x":2,"":3}`, "$ id\n\"\": 3\n\"-x\": 2\n\"a: b\\nc\": 1"},
		"a name that is ours":      {`{"file_path":"/a","file":"/b","content":"x","edit":"y"}`, "file: /a\n+x\n\"edit\": y\n\"file\": /b"},
		"a name like a fact":       {`{"command":"id","Tool":"Read","allowed":"by you","HOST":"nas"}`, "$ id\n\"HOST\": nas\n\"Tool\": Read\n\"allowed\": by you"},
		"a path of two lines":      {`{"file_path":"/a\n$ ls","content":"x"}`, "file: \"/a\\n$ ls\"\n+x"},
		"a path like a command":    {`{"file_path":"$ ls","content":"x"}`, "file: \"$ ls\"\n+x"},
		"a path like JSON":         {`{"file_path":"\"/a\""}`, `file: "\"/a\""`},
		"a path with other spaces": {`{"file_path":"/a\u00a0<b>"}`, `file: "/a⟨U+00A0⟩<b>"`},
		"two changes":              {`{"file_path":"/a","old_string":"x","new_string":"y","content":"z"}`, "file: /a\nedit:\n-x\n+y\ncontent:\n+z"},
		"a change without a file":  {`{"command":"id\n","new_string":" x"}`, "$ id\nedit:\n+ x"},
		"a field that is null":     {`{"command":null,"cmd":"rm"}`, "$ rm\ncommand: null"},
		"a field that is empty":    {`{"edits":"","command":""}`, "$ \nedits: \"\""},
		"a mark of ours":           {`{"file_path":"/a","old_string":"⟨9 lines unchanged⟩\nx","new_string":"⟨9 lines unchanged⟩\ny"}`, "file: /a\n ⟨U+27E8⟩9 lines unchanged⟩\n-x\n+y"},
		"what is no object":        {"[\"$ ls\"]", "input: [\n    \"$ ls\"\n  ]"},
		"nothing":                  {`null`, "input: null"},
		"no field":                 {`{}`, " ⟨empty⟩"},
	})
}

func TestBlanksHideNothing(t *testing.T) {
	t.Parallel()
	blank, tabs := strings.Repeat(" ", 400), strings.Repeat("\t", 41)
	lines := func(n int) string { return strings.Repeat("\n", n+1) }
	for name, c := range map[string]struct{ command, want string }{
		"many spaces":          {"ls" + blank + "; rm", "$ ls⟨400 spaces⟩; rm"},
		"forty are shown":      {"ls" + blank[:40] + "; rm", "$ ls" + blank[:40] + "; rm"},
		"many tabs":            {"ls" + tabs + "; rm", "$ ls⟨41 tabs⟩; rm"},
		"both":                 {"ls" + tabs + blank[:9] + "; rm", "$ ls⟨50 spaces and tabs⟩; rm"},
		"many empty lines":     {"ls" + lines(80) + "rm", "$ ls\n  ⟨80 empty lines⟩\n  rm"},
		"many blank lines":     {"ls" + strings.Repeat("\n \t", 80) + "\nrm", "$ ls\n  ⟨80 blank lines⟩\n  rm"},
		"five are shown":       {"ls" + lines(5) + "rm", "$ ls\n  \n  \n  \n  \n  \n  rm"},
		"other spaces":         {"a\u00a0b\u3000c\u2800d\u2003e\u202ff", "$ a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2800⟩d⟨U+2003⟩e⟨U+202F⟩f"},
		"a carriage return":    {"a\r\nb\rc", "$ a⟨U+000D⟩\n  b⟨U+000D⟩c"},
		"a style of nothing":   {"\ufe0fa\ufe0f 1\ufe0f", "$ ⟨U+FE0F⟩a⟨U+FE0F⟩ 1⟨U+FE0F⟩"},
		"a style of a picture": {"❤️ 1️⃣ ©️ 🏷️", "$ ❤️ 1️⃣ ©️ 🏷️"},
		"one style too many":   {"❤️\ufe0f", "$ ❤️⟨U+FE0F⟩"},
	} {
		input, err := json.Marshal(map[string]string{"command": c.command})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, toolinput.Text(input)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	input := `{"file_path":"/a","content":"x` + strings.Repeat(`\n`, 81) + `y"}`
	if diff := cmp.Diff("file: /a\n+x\n+⟨80 empty lines⟩\n+y", toolinput.Text([]byte(input))); diff != "" {
		t.Error(diff)
	}
}

// Two commands that differ never look the same, whatever one of them writes in letters.
func TestNoTwoCommandsLookTheSame(t *testing.T) {
	t.Parallel()
	read(t, map[string]example{
		"an escape":                      {`{"command":"printf '\u001b[2K'"}`, "$ printf '⟨U+001B⟩[2K'"},
		"an escape in letters":           {`{"command":"printf '\\x1b[2K' \\u001b"}`, `$ printf '\x1b[2K' \u001b`},
		"a mark in letters":              {`{"command":"⟨U+001B⟩"}`, "$ ⟨U+27E8⟩U+001B⟩"},
		"nothing at all":                 {`{"command":"a\u0000b\u200bc\u202ed"}`, "$ a⟨U+0000⟩b⟨U+200B⟩c⟨U+202E⟩d"},
		"a Cyrillic letter":              {`{"command":"сurl x; сору"}`, "$ ⟨U+0441⟩url x; ⟨U+0441⟩⟨U+043E⟩⟨U+0440⟩⟨U+0443⟩"},
		"a text in Cyrillic":             {`{"command":"echo 'работа с базой'"}`, "$ echo 'работа с базой'"},
		"a sign like another":            {`{"command":"a\u037e b\u2215c \u2212x"}`, "$ a⟨U+037E⟩ b⟨U+2215⟩c ⟨U+2212⟩x"},
		"an accent":                      {`{"command":"cafe\u0301"}`, "$ cafe\u0301"},
		"what strikes out":               {`{"command":"r\u0336m\u0336 x"}`, "$ r⟨U+0336⟩m⟨U+0336⟩ x"},
		"an accent on a sign":            {`{"command":"a =\u0301 b"}`, "$ a =⟨U+0301⟩ b"},
		"blanks at the end":              {`{"command":"ls  \n\tx "}`, "$ ls⟨2 spaces⟩\n  \tx⟨1 space⟩"},
		"a tab between words":            {`{"command":"a\tb"}`, "$ a⟨1 tab⟩b"},
		"what no font shows":             {`{"command":"\ue000\ufffe\u0378"}`, "$ ⟨U+E000⟩⟨U+FFFE⟩⟨U+0378⟩"},
		"a tower of accents":             {`{"command":"a\u0301\u0301\u0301\u0301\u0301"}`, "$ a\u0301\u0301\u0301⟨U+0301⟩⟨U+0301⟩"},
		"letters as numbers":             {`{"x":["\u0072\u006d -rf",{"\u0061":1.0}]}`, "x: [\n    \"rm -rf\",\n    {\n      \"a\": 1.0\n    }\n  ]"},
		"a path with an escape":          {`{"file_path":"/a\u001bb"}`, `file: "/a\u001bb"`},
		"a path with that in letters":    {`{"file_path":"/a\\u001bb"}`, `file: /a\u001bb`},
		"a path that runs the other way": {`{"file_path":"/a\u202eb"}`, `file: "/a⟨U+202E⟩b"`},
	})
}

type example struct{ input, want string }

func read(t *testing.T, examples map[string]example) {
	t.Helper()
	for name, c := range examples {
		if diff := cmp.Diff(c.want, toolinput.Text([]byte(c.input))); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Whatever the input is, a person reads every word of it that no count stands for, and
// each line begins with a mark that we wrote.
func FuzzText(f *testing.F) {
	f.Add([]byte(`{"command":"a","cmd":"b"}`))
	f.Add([]byte(`{"old_string":"a\nb","new_string":"a\nc","path":"p"}`))
	f.Add([]byte(`{"content":"","url":"u","patch":"x"}`))
	f.Add([]byte(`{"command":"a\ndescription: b","x\ny":"$ c"}`))
	word := regexp.MustCompile(`[A-Za-z0-9]+`)
	ours := regexp.MustCompile(`^(\$ |[ +-]|[A-Za-z0-9_.][A-Za-z0-9_.-]*:|"|edit \d+)`)
	f.Fuzz(func(t *testing.T, input []byte) {
		read := toolinput.Text(input)
		if strings.Contains(read, "\r") {
			t.Errorf("%q has a carriage return", read)
		}
		var fields map[string]string
		if json.Unmarshal(input, &fields) != nil || len(fields) == 0 {
			return
		}
		for line := range strings.SplitSeq(read, "\n") {
			if !ours.MatchString(line) {
				t.Errorf("%q of %q does not begin with a mark that we wrote", line, read)
			}
		}
		if strings.Contains(read, "unchanged⟩") {
			return
		}
		for name, text := range fields {
			for _, word := range word.FindAllString(text, -1) {
				if !strings.Contains(read, word) {
					t.Errorf("%q of %q is not in %q", word, name, read)
				}
			}
		}
	})
}
