package runner

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

func TestACommandThatCountsOnRunningInTheWorkspaceIsWarnedOf(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]struct{ old, now bool }{
		`test -f todo`:                           {true, true},
		`[ ! -e "todo" ]`:                        {true, true},
		`./ready.sh`:                             {true, true},
		`rm -f notes/todo`:                       {true, true},
		`make release`:                           {true, false},
		`test -f "$C3PO_WORKSPACE/todo"`:         {false, false},
		`test -f /home/ann/Code/todo`:            {false, false},
		`test -f /etc/ready`:                     {true, false},
		`curl -sf http://127.0.0.1:8080/ready`:   {true, false},
		`echo done >> "$HOME/runs.log"`:          {true, false},
		`logger -t c3po "the run has ended now"`: {true, false},
	} {
		for folder, want := range map[string]bool{".claude-docker": want.old, "c3po": want.now} {
			r := New(Config{Places: Places{AgentFile: filepath.Join("/home/ann", folder, "agents.yaml")}})
			agent := agentfile.Agent{Workspace: "/home/ann/Code", Triggers: []agentfile.Trigger{{Type: agentfile.TriggerScript, Command: command}}, PostRun: []string{command}}
			if got := r.Misplaced(agent); (len(got) == 2) != want || (len(got) == 0) == want {
				t.Errorf("%s in %s: %q", command, folder, got)
			}
		}
	}
}

func TestAScriptThatRefusesIsLoggedOnceForEachReason(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := New(Config{Places: Places{State: t.TempDir()}, Log: slog.New(slog.NewTextHandler(&log, nil)), Stderr: &bytes.Buffer{}})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*maxScriptInterval)
		defer cancel()
		command := `n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; [ $n -lt 3 ] && exit 1; exit 2`
		if _, fired := r.scriptWatch(agentfile.Trigger{Command: command}, agentfile.Agent{Name: "a"})(ctx); fired {
			t.Error("it fired")
		}
	})
	if n := strings.Count(log.String(), "does not fire"); n != 2 {
		t.Errorf("%d lines, want one for each of two reasons:\n%s", n, &log)
	}
}
