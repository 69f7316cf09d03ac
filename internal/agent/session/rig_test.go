package session_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// patient are the timeouts of a session whose coordinator answers, however slow the machine is.
var patient = session.Timeouts{
	Hook: patience, Refresh: patience, FirstAnswer: patience, Ask: patience, BlockedAsk: patience, Lease: patience, MinLease: patience,
	Commit: patience, Register: patience, Reach: patience, Goodbye: patience, HurriedGoodbye: patience,
}

const patience = 30 * time.Second

// deadline is how long a test waits for something that must happen.
const deadline = 2 * patience

// A testSession is a session in this process and the client that has started it.
type testSession struct {
	t       *testing.T
	url     string
	socket  string
	change  func(*session.Config)
	off     atomic.Bool
	noted   atomic.Pointer[session.HookRun]
	moved   atomic.Value // where the coordinator is now, if it is not at url
	session *mcp.ClientSession
	hangUp  func() // closes the client's end and waits until the session process has ended
}

// coordinator is a real one.
func coordinator(t *testing.T) *faultrig.Coordinator {
	t.Helper()
	return faultrig.Start(t, redistest.New(t).URL())
}

// start connects a client to a new session process of the agent api.
func start(t *testing.T, url, run string, rooms ...c3po.RoomName) *testSession {
	t.Helper()
	return startAs(t, url, run, func(cfg *session.Config) { cfg.Rooms = rooms })
}

// startAs is start with something else about the session process.
func startAs(t *testing.T, url, run string, change func(*session.Config)) *testSession {
	t.Helper()
	dir, err := os.MkdirTemp("", "c3b") // short, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &testSession{t: t, url: url, socket: filepath.Join(dir, session.SocketName(run)), change: change}
	r.connect(run)
	return r
}

func (r *testSession) connect(run string) {
	r.t.Helper()
	at := func(url string) *client.Client {
		return client.New(client.Config{URL: url, AgentID: "api", Run: run, ClientName: "test"})
	}
	cfg := session.Config{
		Client: at(r.url),
		Reach: func() *client.Client {
			if url, ok := r.moved.Load().(string); ok {
				return at(url)
			}
			return nil
		},
		Asked: "api", Profile: c3po.RegisterInput{Type: "test"}, Run: run, Socket: r.socket, Off: r.off.Load,
		Note:     func(run session.HookRun) { r.noted.Store(&run) },
		Timeouts: patient,
	}
	if r.change != nil {
		r.change(&cfg)
	}
	var log faultrig.Buffer
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := session.New(cfg)
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.WithoutCancel(r.t.Context()), inRead, outWrite) }()
	peer := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := peer.Connect(r.t.Context(), &mcp.IOTransport{Reader: outRead, Writer: inWrite}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.session = session
	done := false
	r.hangUp = func() {
		if done {
			return
		}
		done = true
		_ = session.Close()
		select {
		case err := <-ended:
			if err != nil {
				r.t.Errorf("the session process ended with %v", err)
			}
		case <-time.After(deadline):
			r.t.Error("the client hung up, and the session process does not end")
		}
		faultrig.CheckLog(r.t, "the session's", log.String())
	}
	r.t.Cleanup(r.hangUp)
}

func (r *testSession) call(use, tool string, arguments any) (text string, failed bool) {
	r.t.Helper()
	result, err := r.session.CallTool(r.t.Context(), &mcp.CallToolParams{
		Name: tool, Arguments: arguments, Meta: mcp.Meta{"claudecode/toolUseId": use},
	})
	if err != nil {
		r.t.Fatalf("%s: %v", tool, err)
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func (r *testSession) hook(event hook.Event) string {
	r.t.Helper()
	text, _ := r.call("", "c3po_hook", event)
	return text
}

func (r *testSession) prompt() string {
	return r.hook(hook.Event{Name: hook.UserPromptSubmit, SessionID: "s1"})
}

func (r *testSession) as(id c3po.AgentID) *client.Client {
	return client.New(client.Config{URL: r.url, AgentID: id, ClientName: "test"})
}

func (r *testSession) agents() map[c3po.AgentID]c3po.Agent {
	r.t.Helper()
	list, err := r.as("").ListAgents(context.WithoutCancel(r.t.Context()), c3po.ListAgentsInput{})
	if err != nil {
		r.t.Fatal(err)
	}
	all := map[c3po.AgentID]c3po.Agent{}
	for _, agent := range list.Agents {
		all[agent.ID] = agent
	}
	return all
}

func (r *testSession) send(from c3po.AgentID, text string) c3po.Receipt {
	r.t.Helper()
	receipt, err := r.as(from).SendMessage(r.t.Context(), c3po.SendInput{Target: "api", Message: text})
	if err != nil {
		r.t.Fatal(err)
	}
	return receipt
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
