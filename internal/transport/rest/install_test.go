package rest_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A machine is where the script runs: a home, and a curl of the test's own that
// brings what is in the file "brought".
type machine struct {
	home   string
	script string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is for sh")
	}
	answer := httptest.NewRecorder()
	onModel(t).ServeHTTP(answer, httptest.NewRequest("GET", "/install", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("the script is answered %d", answer.Code)
	}
	m := machine{home: t.TempDir(), script: answer.Body.String()}
	const curl = "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"$HOME/asked\"\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && cp \"$HOME/brought\" \"$2\"; shift; done\nexit 0\n"
	if err := os.Mkdir(filepath.Join(m.home, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.home, "tools", "curl"), []byte(curl), 0o700); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m machine) run(t *testing.T, script, invitation string) (string, error) {
	t.Helper()
	sh := exec.CommandContext(t.Context(), "sh")
	sh.Stdin = strings.NewReader(script)
	sh.Dir = m.home
	sh.Env = []string{"HOME=" + m.home, "C3PO_INVITATION=" + invitation, "C3PO_BIN=" + m.bin(), "PATH=" + filepath.Join(m.home, "tools") + ":" + os.Getenv("PATH")}
	out, err := sh.CombinedOutput()
	return string(out), err
}

func (m machine) bin() string { return filepath.Join(m.home, "bin") }

func (m machine) has(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(m.home, name))
	return err == nil
}

func (m machine) brings(t *testing.T, program string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.home, "brought"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
}

const harmless = "c3po://192.0.2.1:8420/0a-secret"

func TestTheScriptInstallsNoProgramButTheOneItNames(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.brings(t, "#!/bin/sh\ntouch \"$HOME/pwned\"\n")
	out, err := m.run(t, m.script, harmless)
	if err == nil || !strings.Contains(out, "nothing was installed") {
		t.Errorf("another program is met with %v:\n%s", err, out)
	}
	if m.has(t, "pwned") || m.has(t, "bin/c3po") {
		t.Error("another program was installed")
	}
	if left, err := os.ReadDir(m.bin()); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind, %v", left, err)
	}
}

func TestTheScriptDoesNothingUnlessItCameWhole(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.brings(t, "")
	for _, part := range []int{len(m.script) / 4, len(m.script) / 2, len(m.script) * 3 / 4, strings.LastIndex(m.script, "main")} {
		if out, _ := m.run(t, m.script[:part], harmless); m.has(t, "asked") || m.has(t, "bin") {
			t.Errorf("the first %d bytes of it did something:\n%s", part, out)
		}
	}
}

func TestTheScriptTakesAnInvitationForNothingElse(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.brings(t, "")
	for _, wrong := range []string{
		"", "192.0.2.1:8420", "https://192.0.2.1:8420/x", "c3po://192.0.2.1:8420", "c3po://$(touch pwned)/x", "c3po://`touch pwned`:1/x",
		"c3po://a;touch pwned;:1/x", "c3po://a b:1/x", "c3po://me@nas:1/x", "c3po://nas:1?x/x",
	} {
		if out, err := m.run(t, m.script, wrong); err == nil || m.has(t, "asked") || m.has(t, "pwned") {
			t.Errorf("%q is met with %v:\n%s", wrong, err, out)
		}
	}
	for _, right := range []string{"c3po://nas.local:8420/0a-secret", "c3po://[2001:db8::7]:8420/0a-secret"} {
		if _, err := m.run(t, m.script, right); err == nil {
			t.Error("an empty program was installed")
		}
		asked, err := os.ReadFile(filepath.Join(m.home, "asked"))
		address, _, _ := strings.Cut(strings.TrimPrefix(right, "c3po://"), "/")
		if err != nil || !strings.Contains(string(asked), "https://"+address+"/install/c3po-"+runtime.GOOS+"-"+runtime.GOARCH+"\n") {
			t.Errorf("for %s it asks for %s, %v", right, asked, err)
		}
	}
}
