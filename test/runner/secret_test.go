package runner_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/host/paths"
)

// What is secret is looked for wherever others look: what the runtime tells of
// the container, the arguments of all processes, the logs, and all that the
// runtime has stored, the layers of images included.
func TestNothingSecretShowsInInspectArgumentsLogsOrLayers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	login, own, inherited := "login-"+rand.Text(), "own-"+rand.Text(), "inherited-"+rand.Text()
	h.extra = append(h.extra, "CLAUDE_CODE_OAUTH_TOKEN="+login, "INHERITED="+inherited)
	workspace := h.workspace("work")
	h.agents(`coder:
  workspace: ` + workspace + `
  prompt: wait
  env:
    OWN_SECRET: ` + own + `
    INHERITED:
  init:
    - 'printf "%s %s %s\n" "$CLAUDE_CODE_OAUTH_TOKEN" "$OWN_SECRET" "$INHERITED" > got; while [ ! -e end ]; do sleep 0.1; done; exit 9'
`)
	run := h.start("agent", "coder")
	got := filepath.Join(workspace, "got")
	eventually(t, time.Minute, "the container has what is secret", func() bool { return len(lines(got)) == 3 })
	if is := strings.Join(lines(got), " "); is != login+" "+own+" "+inherited {
		t.Errorf("the container has %q", is)
	}
	mine, err := paths.ReadCredentials(filepath.Join(h.home, ".config", "c3po"))
	if err != nil || mine.Runner == "" {
		t.Fatalf("the runner has no token: %v", err)
	}
	var child struct{ Token string }
	data, err := os.ReadFile(filepath.Join(h.home, ".local", "state", "c3po", "agent", "agents", "coder", "identity.json"))
	if err == nil {
		err = json.Unmarshal(data, &child)
	}
	if err != nil || child.Token == "" {
		t.Fatalf("the agent has no token: %v", err)
	}
	secrets := []string{login, own, inherited, secretPart(child.Token), secretPart(mine.Runner)}

	name := h.containers()
	if len(name) != 1 {
		t.Fatalf("%v run", name)
	}
	inspected := h.inspect("inspect", name[0])
	places := map[string]string{
		"inspect": inspected, "the history of the image": h.inspect("history", "--no-trunc", "localhost/c3po-agent"),
		"arguments": commandLines(t), "the output of the runner": run.out.String(), "the log of the coordinator": h.coordinator.Log(),
		"agent ps": h.c3po(workspace, "", "agent", "ps", "--json").stdout,
	}
	for place, text := range places {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s…", place, secret[:5])
			}
		}
	}
	if !strings.Contains(inspected, "C3PO_MODE") || !strings.Contains(places["arguments"], "C3PO_ENV_FILE") {
		t.Error("what is not secret is not found either, so this proves nothing")
	}
	for _, where := range searchStorage(t, secrets) {
		t.Errorf("the storage of the runtime shows a secret in %s", where)
	}
	for _, where := range searchFolder(t, filepath.Join(h.home, ".local", "state", "c3po", "agent"), secrets) {
		if base := filepath.Base(where); base != "identity.json" && base != "credentials.json" && base != "env" {
			t.Errorf("%s holds a secret", where)
		}
	}
	if err := writeFile(filepath.Join(workspace, "end")); err != nil {
		t.Fatal(err)
	}
	if code := run.ended(30 * time.Second); code != 70 {
		t.Errorf("a failing init command ends it with %d", code)
	}
	if left, _ := filepath.Glob(filepath.Join(h.home, ".local", "state", "c3po", "agent", "agents", "coder", "launch-*")); len(left) != 0 {
		t.Errorf("what the container was given is left: %v", left)
	}
}

// secretPart is what of a token nobody may see; its key id is no secret.
func secretPart(token string) string { return token[len(token)-20:] }

// commandLines are the arguments of all processes.
func commandLines(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, file := range files {
		line, _ := os.ReadFile(file) // its process may have ended
		all.Write(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		all.WriteByte('\n')
	}
	return all.String()
}

// searchStorage looks through everything the runtime keeps: layers, and what it
// wrote down of containers.
func searchStorage(t *testing.T, secrets []string) []string {
	t.Helper()
	folder := filepath.Join(os.Getenv("C3PO_RUNNER"), "storage")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := []string{"-rlaF", "--devices=skip", "--exclude-dir=merged"}
	for _, secret := range secrets {
		args = append(args, "-e", secret)
	}
	out, err := exec.CommandContext(ctx, "grep", append(args, folder)...).Output()
	if ctx.Err() != nil {
		t.Fatal(ctx.Err())
	}
	// 1 is nothing found; 2 that a file went away meanwhile.
	if code := exitCode(err); code > 2 {
		t.Fatalf("grep: %v", err)
	}
	return strings.Fields(string(out))
}

func exitCode(err error) int {
	if failed, ok := err.(*exec.ExitError); ok {
		return failed.Sys().(syscall.WaitStatus).ExitStatus()
	}
	return 0
}

func searchFolder(t *testing.T, folder string, secrets []string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // what a container has just removed
		}
		data, _ := os.ReadFile(name)
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				found = append(found, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
