package clients_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/c3po-dev/c3po/internal/host/clients"
)

func TestAFileIsRestoredOnlyIfNobodyHasChangedItSince(t *testing.T) {
	t.Parallel()
	const before, ours, theirs = `{"a":1}`, "{\n  \"a\": 1,\n  \"ours\": {}\n}\n", `{"a":2,"ours":{}}`
	for name, c := range map[string]struct {
		edits []string // after each of which it is installed again
		last  string
		want  string
	}{
		"untouched":                      {want: before},
		"installed twice":                {edits: []string{ours}, want: before},
		"edited":                         {last: theirs, want: `{"a":2}`},
		"edited, then installed again":   {edits: []string{theirs}, want: `{"a":2}`},
		"edited to what it said before":  {last: `{"ours":{}, "a": 1}`, want: before},
		"edited to what cannot be read":  {last: `{"a":`, want: `{"a":`},
		"edited, with ours still in use": {last: `{"a":2,"ours":{"b":1}}`, want: `{"a":2,"ours":{"b":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, made := filepath.Join(dir, "settings.json"), filepath.Join(dir, "made")
			kept := filepath.Join(dir, "kept", "before.json")
			put := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put(before)
			f, err := clients.TakeFootprint([]string{file, filepath.Join(made, "new.json")}, []string{made})
			if err != nil {
				t.Fatal(err)
			}
			put(ours)
			if err := os.Mkdir(made, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, other := range []string{"new.json", "more.json"} {
				if err := os.WriteFile(filepath.Join(made, other), []byte("{}"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f = f.Leave()
			for _, text := range c.edits {
				put(text)
				f = f.Again()
				f = f.Leave()
			}
			if err := f.Write(kept); err != nil {
				t.Fatal(err)
			}
			if c.last != "" {
				put(c.last)
			}
			f, there, err := clients.ReadFootprint(kept)
			if err != nil || !there {
				t.Fatal(there, err)
			}
			err = f.Restore(f.Untouched(), func(_ string, was, now []byte) []byte { return clients.WithoutEmpty(was, now, "ours") })
			f.RemoveFolders()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != c.want {
				t.Errorf("it is %q, %v, want %q", got, err, c.want)
			}
			if _, err := os.Stat(made); err == nil {
				t.Error("a folder that was not there is left")
			}
		})
	}
}
