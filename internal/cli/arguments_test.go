package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	a := &app{Process: Process{Getenv: func(name string) string {
		return map[string]string{"HOME": home, "DISPLAY": ":0"}[name]
	}}}
	a.folders.Getenv = a.Getenv
	const address = "http://127.0.0.1:8420/#/login/abcdefghij23-secret&x"
	if !a.browse(address) {
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

func TestJoinReadsTheInvitationFromStdin(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"join", "-"}, {"join"}} {
		var said bytes.Buffer
		home := t.TempDir()
		code := Main(t.Context(), Process{Args: args, Stdin: strings.NewReader("echo 'c3po://nas' | c3po join -\nmore\n"), Stdout: &said, Stderr: &said, Getenv: func(name string) string {
			if name == "HOME" {
				return home
			}
			return ""
		}})
		if code == exitOK || !strings.Contains(said.String(), "invitation") || strings.Contains(said.String(), "join needs") {
			t.Errorf("%v ends with %d and says %s", args, code, &said)
		}
		if _, err := fs.Stat(os.DirFS(home), ".config/c3po/credentials.json"); err == nil {
			t.Error("there are credentials")
		}
	}
}

func TestASecretAmongTheArgumentsIsWarnedOf(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"serve --redis redis://:hunter2@127.0.0.1:1 --auth wrong": true,
		"serve --redis redis://127.0.0.1:1 --auth wrong":          false,
		"up --notify-secret hunter2 --auth wrong":                 true,
		"up --auth wrong": false,
		"agent setup-c3po http://127.0.0.1:1 c3po_runner_x_hunter2": true,
		"join c3po://127.0.0.1:1/5f1c-k3xv2ab7qmzd-hunter2":         true,
		"join": false,
		"backup --redis redis://u:hunter2@127.0.0.1:1 /no/such/place": true,
	} {
		var said bytes.Buffer
		home := t.TempDir()
		Main(t.Context(), Process{Args: strings.Fields(line), Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Getenv: func(name string) string {
			return map[string]string{"HOME": home}[name]
		}})
		if strings.Contains(said.String(), "others on this machine can read") != want || strings.Contains(said.String(), "hunter2") {
			t.Errorf("c3po %s says %s", line, &said)
		}
	}
}
