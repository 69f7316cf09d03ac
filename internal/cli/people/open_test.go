package people

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

// Others on this machine can read the arguments of every process.
func TestABrowserIsNotGivenTheLinkAsAnArgument(t *testing.T) {
	home := t.TempDir()
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	// What stands for the desktop's opener writes down what it was started with.
	for _, name := range []string{"xdg-open", "open"} {
		script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + asked + ".new && mv " + asked + ".new " + asked + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil { // #nosec G306 -- a program
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	a := &console.Console{Process: console.Process{Getenv: func(name string) string {
		return map[string]string{"HOME": home, "DISPLAY": ":0"}[name]
	}}}
	a.Folders.Getenv = a.Getenv
	const address = "http://127.0.0.1:8420/#/login/abcdefghij23-secret&x"
	if !browse(a, address) {
		t.Fatal("no browser was started")
	}
	given, err := os.ReadFile(asked)
	for tick := time.NewTicker(5 * time.Millisecond); err != nil && t.Context().Err() == nil; given, err = os.ReadFile(asked) {
		<-tick.C
	}
	if err != nil || strings.Contains(string(given), "secret") {
		t.Errorf("the browser was started with %s, %v", given, err)
	}
	page := strings.TrimSpace(string(given))
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), `url=http://127.0.0.1:8420/#/login/abcdefghij23-secret&amp;x"`) {
		t.Errorf("the page is %s, %v", text, err)
	}
	if info, err := os.Stat(page); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the page: %v, %v", info.Mode(), err)
	}
}
