package claude_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// releases is a page of releases on loopback, with the program of the tests and the
// script that installs it.
func releases(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "latest", "download")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	archive := "c3po-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	run(t, "sh", "-ec", `cp "$1" "$2/install.sh"; cp "$3" "$2/c3po"; cd "$2"; tar -czf "$4" c3po; rm c3po; sha256sum "$4" >checksums.txt`,
		"sh", "../../deploy/install.sh", folder, faultrig.Binary(t), archive)
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	t.Cleanup(server.Close)
	return server.URL
}

// Somebody who has Claude Code and Redis, and no c3po: three commands in two
// terminals, one question about the plugin, one prompt.
func TestFromNoBinaryTwoSessionsHaveSpokenAfterThreeCommandsAndOnePrompt(t *testing.T) {
	t.Parallel()
	page := releases(t)
	h := (&testCoordinator{t: t}).host("pi")
	bin := filepath.Join(h.home(), ".local", "bin")
	shell := func(project string, thinks brain) *terminal {
		a := h.agent(project, thinks)
		a.extra = nil
		env := append(a.env(), "PATH="+bin+":"+filepath.Dir(claudeBinary(t))+":/usr/local/bin:/usr/bin:/bin", "PS1=$ ",
			"C3PO_BIN="+bin, "C3PO_RELEASES="+page, "C3PO_LISTEN=127.0.0.1:0") // as root it would install for the whole machine
		term := a.start(env, a.onHost("bash", "--norc", "--noprofile")...)
		term.see("$")
		return term
	}
	api := shell("api", following(reading(always("port 8080"))...))
	web := shell("web", following(
		on("Ask the api agent", call("send_message", map[string]any{"target": "api", "message": "Which port do you listen on?", "wait_seconds": 60})),
		rule{"port 8080", func(r request, _ []string) step { return say("It is %s.", written(r.Fresh())) }},
	))
	t.Cleanup(func() {
		if out, err := exec.Command("env", "-i", "HOME="+h.home(), filepath.Join(bin, "c3po"), "down").CombinedOutput(); err != nil {
			t.Errorf("c3po down: %v\n%s", err, out)
		}
	})

	began := time.Now()
	api.enter("curl -fsSL $C3PO_RELEASES/latest/download/install.sh | sh")
	api.see("c3po is in " + bin)
	fetched := time.Since(began)
	api.enter("c3po claude")
	api.see("Install it now? [Y/n]")
	api.press("Enter")
	api.see("mode on")
	api.idle()
	first := time.Since(began)
	web.enter("c3po claude")
	web.see("mode on")
	second := time.Since(began)
	web.enter("Ask the api agent which port it listens on")
	web.see("It is port 8080.")
	faultrig.Hold(t, "from no binary to an answer between two sessions", time.Since(began), time.Minute)
	t.Logf("installed after %v, the first session after %v, the second after %v", fetched, first, second)
	if strings.Contains(web.screen(), "Install it now?") {
		t.Error("the second session asks again")
	}
}
