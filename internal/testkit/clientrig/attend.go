package clientrig

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A KeptSession is one that c3po attend list shows.
type KeptSession struct {
	Session string `json:"session"`
	Open    bool   `json:"open"`
	Starts  int    `json:"starts_this_hour"`
}

// OnlySession is the one session of what `c3po attend list --json` printed.
func OnlySession(t *testing.T, printed string) KeptSession {
	t.Helper()
	var rows []KeptSession
	if err := json.Unmarshal([]byte(printed), &rows); err != nil || len(rows) != 1 || rows[0].Session == "" {
		t.Fatalf("the list is %s, %v", printed, err)
	}
	return rows[0]
}

// RunAttend runs c3po attend until the test ends, and shows its log if that fails.
func RunAttend(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		err := cmd.Wait()
		faultrig.CheckLog(t, "c3po attend", log.String())
		if t.Failed() {
			t.Logf("c3po attend: %v\n%s", err, log.String())
		}
	})
}
