package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

func TestTheFirstTriggerToFireEndsTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		after := func(d time.Duration, why string) watch {
			return func(ctx context.Context) (firing, bool) {
				fired := attempt.Sleep(ctx, d)
				if !fired {
					ended.Add(1)
				}
				return firing{why: why}, fired
			}
		}
		began := time.Now()
		got, fired := first(t.Context(), []watch{after(time.Hour, "late"), after(time.Minute, "early"), after(2*time.Hour, "later")})
		if !fired || got.why != "early" || time.Since(began) != time.Minute || ended.Load() != 2 {
			t.Errorf("%v %v after %v, %d others ended", got, fired, time.Since(began), ended.Load())
		}
	})
}

func TestASignalEndsTheWaitForATrigger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		never := func(ctx context.Context) (firing, bool) { <-ctx.Done(); return firing{}, false }
		if _, fired := first(ctx, []watch{never, never}); fired {
			t.Error("something fired")
		}
	})
}

func TestCronFiresAtItsTimeAndAtOnceIfThatWasDuringTheRun(t *testing.T) {
	t.Parallel()
	file, err := agentfile.Parse(agentfile.Config{Home: "/"}, []byte("a:\n  workspace: /\n  triggers:\n    - {type: cron, schedule: \"*/5 * * * *\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	trigger := file.Agents[0].Triggers[0]
	synctest.Test(t, func(t *testing.T) {
		began := time.Now() // midnight, in such a test
		if _, fired := cronWatch(trigger, began)(t.Context()); !fired || time.Since(began) != 5*time.Minute {
			t.Errorf("fired %v after %v", fired, time.Since(began))
		}
		since := time.Now()
		if !attempt.Sleep(t.Context(), 7*time.Minute) { // the run
			t.Fatal("no sleep")
		}
		began = time.Now()
		if _, fired := cronWatch(trigger, since)(t.Context()); !fired || time.Since(began) != 0 {
			t.Errorf("a time that came during the run fired %v after %v", fired, time.Since(began))
		}
	})
}

func TestAScriptFiresWhenItEndsWell(t *testing.T) {
	t.Parallel()
	r, agent := commandRunner(t)
	if err := os.WriteFile(filepath.Join(agent.Workspace, "ready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	watching := r.scriptWatch(agentfile.Trigger{Command: `test -e "$C3PO_WORKSPACE/ready"`}, agent)
	if got, fired := watching(t.Context()); !fired || got.why != "script" {
		t.Errorf("%v %v", got, fired)
	}
}

// commandRunner runs the commands of one agent.
func commandRunner(t *testing.T) (*Runner, agentfile.Agent) {
	t.Helper()
	return New(Config{Stderr: os.Stderr, Places: Places{State: t.TempDir()}}), agentfile.Agent{Name: "coder", Workspace: t.TempDir()}
}

func TestAScriptThatIsCancelledEndsWithWhatItHasStarted(t *testing.T) {
	t.Parallel()
	r, agent := commandRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() {
		_, fired := r.scriptWatch(agentfile.Trigger{Command: `sleep 600 & echo $! > "$C3PO_WORKSPACE/child"; wait`}, agent)(ctx)
		done <- fired
	}()
	var child int
	poll(t, "the child has written its number", func() bool {
		data, _ := os.ReadFile(filepath.Join(agent.Workspace, "child"))
		var err error
		child, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	})
	cancel()
	if <-done {
		t.Error("it fired")
	}
	poll(t, "the child has ended", func() bool {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err != nil || strings.Contains(string(data), ") Z ")
	})
}

func TestAFileFiresWhenItIsMadeChangedOrRemoved(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, workspace := range []string{"/elsewhere", folder} {
		fileFires(t, folder, workspace)
	}
	secret := t.TempDir()
	if err := os.Symlink(secret, filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	if fingerprint(filepath.Join(folder, "link"), folder) != "" {
		t.Error("a link of the agent's is followed out of its workspace")
	}
	if fingerprint(filepath.Join(folder, "link"), "/elsewhere") == "" {
		t.Error("a link of the person's is not followed")
	}
}

func fileFires(t *testing.T, folder, workspace string) {
	t.Helper()
	name := filepath.Join(folder, "f")
	for i, act := range []func() error{
		func() error { return os.WriteFile(name, []byte("a"), 0o600) },
		func() error { return os.WriteFile(name, []byte("longer"), 0o600) },
		func() error { return os.Remove(name) },
	} {
		for _, path := range []string{name, folder} {
			before := fingerprint(path, workspace)
			if fingerprint(path, workspace) != before {
				t.Errorf("step %d: %s changes by itself", i, path)
			}
		}
		was, all := fingerprint(name, workspace), fingerprint(folder, workspace)
		if err := act(); err != nil {
			t.Fatal(err)
		}
		if fingerprint(name, workspace) == was || fingerprint(folder, workspace) == all {
			t.Errorf("step %d is not seen", i)
		}
	}
}

// listenSomewhere is a webhook on a port that is free, which another program may
// take before it does.
func listenSomewhere(t *testing.T, path string) (*webhook, int) {
	t.Helper()
	for range 20 {
		probe, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := probe.Addr().(*net.TCPAddr).Port
		if err := probe.Close(); err != nil {
			t.Fatal(err)
		}
		if hook, err := listenWebhook(agentfile.Trigger{Port: port, Path: path}); err == nil {
			return hook, port
		}
	}
	t.Fatal("no port is free")
	return nil, 0
}

func TestAWebhookFiresForAPostOfThisHostAndForNothingElse(t *testing.T) {
	t.Parallel()
	hook, port := listenSomewhere(t, "/go")
	defer hook.close()
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	ask := func(method, path string, change func(*http.Request)) int {
		request, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(request)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for _, bad := range []int{
		ask("GET", "/go", nil), ask("POST", "/", nil),
		ask("POST", "/go", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }),
		ask("POST", "/go", func(r *http.Request) { r.Host = "evil.example" }),
	} {
		if bad < 400 {
			t.Errorf("answered with %d", bad)
		}
	}
	if len(hook.called) != 0 {
		t.Fatal("one of them counted")
	}
	// Two calls during a run are one run more.
	for range 2 {
		if code := ask("POST", "/go", nil); code != http.StatusAccepted {
			t.Errorf("a good call was answered with %d", code)
		}
	}
	if got, fired := hook.watch(t.Context()); !fired || got.why != "webhook" || len(hook.called) != 0 {
		t.Errorf("%v %v", got, fired)
	}
	if _, err := listenWebhook(agentfile.Trigger{Port: port}); err == nil {
		t.Error("a port that is taken was taken again")
	}
}

// poll waits until something holds, or fails.
func poll(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !holds() {
		if !attempt.Sleep(ctx, 10*time.Millisecond) {
			t.Fatal(errors.New("not in time: " + what))
		}
	}
}
