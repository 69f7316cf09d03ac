package session

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/client"
)

// A quiet coordinator registers agents that have no mail, and once it is silent it answers nothing.
type quiet struct{ silent atomic.Bool }

func (q *quiet) RoundTrip(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if q.silent.Load() || strings.Contains(string(asked), `"timeout":`) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	answer := `{"id":"api"}`
	if strings.HasSuffix(r.URL.Path, "/list_agents") {
		answer = `[]`
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// A silenced session is one in a bubble of time, whose coordinator answers nothing any more.
type silenced struct {
	*testing.T
	s *Server
}

// takes fails unless something takes exactly so long.
func (s silenced) takes(what string, want time.Duration, do func()) {
	s.Helper()
	began := time.Now()
	do()
	if took := time.Since(began); took != want {
		s.Errorf("%s takes %v, want %v", what, took, want)
	}
}

func (s silenced) hook(name string) string {
	return s.s.answerHook(s.Context(), hook.Event{Name: name, SessionID: "s1"})
}

func (s silenced) approve() string {
	return s.s.approve(s.Context(), hook.Event{Name: hook.Approve, SessionID: "s1", ToolName: "Bash", Input: hook.Object(`{}`)})
}

func (s silenced) edit() {
	s.s.want()
	if held := s.s.takeLeases(s.Context(), c3po.LeaseFiles{Repository: "r", Branch: "main", Tree: "/r", Paths: []string{"a.go"}}); held != nil {
		s.Errorf("the edit is refused because of %v", held)
	}
}

// inSilence runs a test with a session whose coordinator fell silent before the session
// began, or once it was registered.
func inSilence(t *testing.T, registered bool, change func(*Config), test func(silenced)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		coordinator := &quiet{}
		coordinator.silent.Store(!registered)
		cfg := Config{Client: client.New(client.Config{HTTP: &http.Client{Transport: coordinator}, AgentID: "api"}), Asked: "api"}
		change(&cfg)
		s := silenced{t, New(cfg)}
		ctx, cancel := context.WithCancel(t.Context())
		defer pass(5 * time.Minute) // for what it tries after that
		defer cancel()
		go s.s.attend(ctx)
		if registered {
			s.hook(hook.SessionStart)
			if !s.s.isSettled() {
				t.Fatal("the session is not registered: the test proves nothing")
			}
			coordinator.silent.Store(true)
		}
		test(s)
	})
}

func TestAClientWaitsOnlySoLongForASilentCoordinator(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	as := func(by hook.Dialect) func(*Config) {
		return func(cfg *Config) {
			cfg.Dialect, cfg.Attended, cfg.Approves = by, true, func() bool { return true }
		}
	}
	scripted := func(cfg *Config) { cfg.Unattended, cfg.Answers = true, true }
	for name, one := range map[string]struct {
		registered bool
		change     func(*Config)
		test       func(silenced)
	}{
		"hooks, to be registered": {false, as(hook.ClaudeCode), func(s silenced) {
			s.takes("the first hook", 150*ms, func() { s.hook(hook.SessionStart) })
			s.takes("the next", 0, func() { s.hook(hook.UserPromptSubmit) })
		}},
		"a person, to read that it is away": {false, as(hook.ClaudeCode), func(s silenced) {
			s.hook(hook.SessionStart)
			pass(2*time.Second - 151*ms)
			if said := s.hook(hook.UserPromptSubmit); said != "{}" {
				s.Errorf("too soon: %s", said)
			}
			pass(ms)
			if said := s.hook(hook.UserPromptSubmit); !strings.Contains(said, "can't reach its coordinator") {
				s.Errorf("it says %s", said)
			}
		}},
		"a call, to be registered": {false, as(hook.ClaudeCode), func(s silenced) {
			call := s.s.calling(func(context.Context, string, mcp.Request) (mcp.Result, error) { return &mcp.CallToolResult{}, nil })
			s.takes("a call", time.Second, func() {
				_, _ = call(s.Context(), "tools/call", &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: "reply"}})
			})
		}},
		"the first edit": {false, as(hook.ClaudeCode), func(s silenced) {
			s.takes("the first edit", time.Second, s.edit)
			s.takes("the next", 100*ms, s.edit)
		}},
		"an edit of a session that got its answers at once": {true, as(hook.ClaudeCode), func(s silenced) {
			s.takes("an edit", 100*ms, s.edit)
		}},
		"a look at mail": {true, as(hook.ClaudeCode), func(s silenced) {
			s.takes("the end of a turn", 150*ms, func() { s.hook(hook.StopEvent) })
			s.takes("a greeting", 150*ms, func() { s.hook(hook.SessionStart) })
		}},
		"the end of a script's run": {true, scripted, func(s silenced) {
			s.takes("it", 2*time.Second, func() { s.hook(hook.StopEvent) })
		}},
		"a dialog that is open": {true, as(hook.ClaudeCode), func(s silenced) {
			s.takes("the request", 5*time.Second, func() { s.approve() })
		}},
		"a dialog of Codex": {true, as(hook.Codex), func(s silenced) {
			s.takes("it", 120*ms, func() {
				if said := s.approve(); said != "{}" {
					s.Errorf("the hook says %s", said)
				}
			})
		}},
		"a dialog of Copilot": {true, as(hook.Copilot), func(s silenced) {
			s.takes("it", 120*ms, func() { s.approve() })
		}},
		"a commit": {true, as(hook.ClaudeCode), func(s silenced) {
			s.takes("it", 2*time.Second, func() {
				s.s.answerHook(s.Context(), hook.Event{Name: hook.Commit, Input: hook.Object(`{}`)})
			})
		}},
		"a look at whether the session hears": {true, as(hook.ClaudeCode), func(s silenced) {
			s.takes("it", 500*ms, func() {
				if about := s.s.aboutNow(s.Context()); about.Connected {
					s.Error("the session hears of mail")
				}
			})
		}},
		"the end of a session": {true, as(hook.ClaudeCode), func(s silenced) {
			s.takes("it", time.Second, func() { s.s.goodbye(s.Context()) })
		}},
		"the end of a session whose last look failed": {true, as(hook.ClaudeCode), func(s silenced) {
			s.hook(hook.StopEvent)
			s.takes("it", 50*ms, func() { s.s.goodbye(s.Context()) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inSilence(t, one.registered, one.change, one.test)
		})
	}
}
