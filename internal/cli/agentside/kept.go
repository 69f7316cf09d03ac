package agentside

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	// resumedVariable tells the session process that c3po attend has resumed the session it
	// names. What that session starts inherits it, but is another session.
	resumedVariable = "C3PO_RESUMED"
	configVariable  = "CLAUDE_CONFIG_DIR"
	// wayTimeout is how long a person's session waits for the same session to end that
	// c3po attend has resumed.
	wayTimeout, wayLook = 5 * time.Second, 50 * time.Millisecond
)

// keeper records what it takes to resume a session of a client that can be resumed; nil of
// another.
func keeper(a *console.Console, r ClientRun, clientName, project string) func(session.Kept) {
	if !canResume(clientName) {
		return nil
	}
	space, err := a.InSpace()
	if err != nil {
		return nil // the session says why, when it registers
	}
	return func(k session.Kept) {
		now := paths.Session{
			Client: clientName, ID: k.ID, Agent: k.Agent, Folder: project, Model: k.Model, Mode: k.Mode, Said: k.Said,
			URL: a.URL, Space: string(space), As: a.As, Config: a.Getenv(configVariable), Run: r.Name, Resumed: a.Getenv(resumedVariable) == k.ID, At: time.Now().UTC(),
		}
		if was, known := a.Folders.Session(k.ID); known {
			if now.Resumed && isPersons(was) {
				return // the person has opened it meanwhile
			}
			now.Said = now.Said || was.Said
			if now.Agent == "" {
				now.Agent = was.Agent
			}
			if now.Model == "" {
				now.Model = was.Model
			}
			if now.Mode == "" || now.Resumed { // which is not the person's choice for themselves
				now.Mode = was.Mode
			}
		}
		_ = a.Folders.KeepSession(now) // that it cannot be resumed later is no reason to disturb it
	}
}

// isPersons says that the person has a session open.
func isPersons(s paths.Session) bool { return !s.Resumed && runLives(s.Run) }

// runLives says that the process of a run is there.
func runLives(run string) bool {
	process, ok := c3po.ParseProcessRun(run)
	return ok && engine.Started(process.PID) == process.Start
}

// makeWay lets only one of two processes with the same session be its agent: the person's.
// The one that c3po attend has resumed is ended by it, and does not register.
func makeWay(ctx context.Context, a *console.Console, id string) error {
	if id == "" {
		return nil
	}
	if a.Getenv(resumedVariable) == id {
		if s, ok := a.Folders.Session(id); ok && isPersons(s) {
			return c3po.Errorf(c3po.Superseded, "the person has opened the session")
		}
		return nil
	}
	for end := time.Now().Add(wayTimeout); time.Now().Before(end) && a.Folders.IsResumed(id); {
		if !attempt.Sleep(ctx, wayLook) {
			return ctx.Err()
		}
	}
	return nil
}
