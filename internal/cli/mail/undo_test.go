package mail

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What cannot be put back is named, and what it was stays where it is kept.
func TestAFileThatCannotBePutBackIsNamed(t *testing.T) {
	top, kept := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.txt", "sub/b.txt"} {
		write(t, filepath.Join(top, name), "before")
	}
	before, err := keep(top, kept, []string{"a.txt", "sub/b.txt", "new/c.txt"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "new/c.txt"} {
		if err := os.RemoveAll(filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(top, name), "after")
	}
	// A folder that is not empty is where the file was.
	if err := os.Remove(filepath.Join(top, "sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(top, "sub/b.txt/in/the/way"), "")
	if changed := before.restore(); !slices.Equal(changed, []string{"sub/b.txt"}) {
		t.Errorf("it names %q as changed", changed)
	}
	if text, err := os.ReadFile(filepath.Join(top, "a.txt")); string(text) != "before" {
		t.Errorf("a.txt is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(top, "new")); !os.IsNotExist(err) {
		t.Errorf("the new folder is still there: %v", err)
	}
	if text, err := os.ReadFile(before.kept(1)); string(text) != "before" {
		t.Errorf("what is kept of sub/b.txt is %q, %v", text, err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
