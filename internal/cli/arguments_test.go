package cli

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/cli/console"
)

func TestJoinReadsTheInvitationFromStdin(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"join", "-"}, {"join"}} {
		var said bytes.Buffer
		home := t.TempDir()
		code := Main(t.Context(), console.Process{Args: args, Stdin: strings.NewReader("echo 'c3po://nas' | c3po join -\nmore\n"), Stdout: &said, Stderr: &said, Getenv: func(name string) string {
			if name == "HOME" {
				return home
			}
			return ""
		}})
		if code == console.ExitOK || !strings.Contains(said.String(), "invitation") || strings.Contains(said.String(), "join needs") {
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
		Main(t.Context(), console.Process{Args: strings.Fields(line), Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Getenv: func(name string) string {
			return map[string]string{"HOME": home}[name]
		}})
		if strings.Contains(said.String(), "others on this machine can read") != want || strings.Contains(said.String(), "hunter2") {
			t.Errorf("c3po %s says %s", line, &said)
		}
	}
}
