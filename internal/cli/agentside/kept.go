package agentside

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/verify"
)

// wayTimeout is how long a person's session waits for the same session to end that
// c3po attend has resumed.
const wayTimeout, wayLook = 5 * time.Second, 50 * time.Millisecond

// keeper records what it takes to resume a session of a client that can be resumed; nil of
// another.
func keeper(a *console.Console, r ClientRun, clientName, project string) func(session.Kept) {
	by, ok := attend.Clients()[clientName]
	if !ok {
		return nil
	}
	config := ""
	if by.Folder != "" {
		config = a.Getenv(by.Folder)
	}
	space, err := a.InSpace()
	if err != nil {
		return nil // the session says why, when it registers
	}
	return func(k session.Kept) {
		if verify.IsProbe(k.ID) {
			return
		}
		now := paths.Session{
			Client: clientName, ID: k.ID, Agent: k.Agent, Folder: project, Model: k.Model, Mode: k.Mode, Said: k.Said,
			URL: a.URL, Space: string(space), As: a.As, Config: config, Run: r.Name, Resumed: a.Getenv(attend.ResumedVariable) == k.ID, At: time.Now().UTC(),
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
		_ = a.Folders.ForgetOpening(r.Name)
	}
}

// noteOpening notes a client that does not show yet which session it has, until the end.
// What c3po attend has resumed has the session that it was told, and no script has a
// person's.
func noteOpening(a *console.Console, r ClientRun, clientName, project string) (end func()) {
	for _, o := range a.Folders.Openings() {
		if !runLives(o.Run) {
			_ = a.Folders.ForgetOpening(o.Run) // else it is looked at once more
		}
	}
	if !attend.Clients()[clientName].Late || a.Getenv(attend.ResumedVariable) != "" || isUnattended(a, clientName) {
		return func() {}
	}
	_ = a.Folders.NoteOpening(paths.Opening{Client: clientName, Folder: project, Run: r.Name}) // no reason to disturb a session
	return func() { _ = a.Folders.ForgetOpening(r.Name) }
}

// isAttendedTo says that c3po attend has resumed the session of this run, and waits for it
// to end.
func isAttendedTo(a *console.Console, r ClientRun) bool {
	id := a.Getenv(attend.ResumedVariable)
	s, ok := a.Folders.Session(id)
	return ok && s.Resumed && s.Run == r.Name && a.Folders.IsResumed(id)
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
	if a.Getenv(attend.ResumedVariable) == id {
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
