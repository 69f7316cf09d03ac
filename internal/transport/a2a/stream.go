package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// keepAlive is how often a silent stream says that it lives, and a task is looked at
// although nothing was heard: what stands in between cuts connections that are silent
// for a minute.
const keepAlive = 15 * time.Second

// follow tells of a task whenever something may have happened to it, until it was told
// enough. Idle is called when nothing happens for a while.
func (e *exchange) follow(ctx context.Context, id c3po.MessageID, idle func(), tell func(task) (more bool)) error {
	// Watch before the first look, so that what happens in between is not missed.
	watch, err := e.actor.Watch(ctx, nil)
	if err != nil {
		return err
	}
	defer watch.Close()
	for {
		t, err := e.progress(ctx, string(id))
		if err != nil {
			return err
		}
		if !tell(t) {
			return nil
		}
		if err := awaitNews(ctx, watch, t, idle); err != nil {
			return err
		}
	}
}

// awaitNews waits until something has happened that may concern a task.
func awaitNews(ctx context.Context, watch *hub.Stream, t task, idle func()) error {
	for {
		quiet, cancel := context.WithTimeout(ctx, keepAlive)
		entries, err := watch.Next(quiet)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			idle()
			return nil
		case err != nil:
			return err
		case slices.ContainsFunc(entries, t.concerned):
			return nil
		}
	}
}

// concerned says whether an event may have changed a task: one of its message, of who
// asked, or of who has it. A pause of all has no agent.
func (t task) concerned(entry c3po.StreamEvent) bool {
	if entry.Start != nil {
		return !entry.Start.Recovered
	}
	event := entry.Event
	return event.ID == t.Ticket.ID || event.Agent == t.Ticket.FromAgent || event.Agent == t.Holder && event.Agent != "" ||
		event.Kind == c3po.EventRollback || event.Kind == c3po.EventPaused || event.Kind == c3po.EventResumed
}

// settled waits until there is something for the caller of a task, and not for long.
func (e *exchange) settled(id c3po.MessageID, long time.Duration) (task, error) {
	ctx, cancel := context.WithTimeout(e.r.Context(), long)
	defer cancel()
	var last task
	err := e.follow(ctx, id, func() {}, func(t task) bool {
		last = t
		return !t.state.settled()
	})
	if err != nil && last.Ticket.ID != "" && e.r.Context().Err() == nil {
		return last, nil // the time is over, or the coordinator stops: the task goes on
	}
	return last, err
}

// resume streams a task from where it is.
func (e *exchange) resume(params json.RawMessage) {
	in, wrong := decode[taskParams](params)
	if wrong != nil {
		e.refuse(wrong)
		return
	}
	t, err := e.progress(e.r.Context(), in.ID)
	if err == nil && e.v == v10 && t.state.terminal() {
		err = &fault{code: codeUnsupported, message: "the task has ended", suggestion: "Ask for it to see how."}
	}
	if err != nil {
		e.refuse(err)
		return
	}
	e.stream(t.Ticket.ID)
}

// stream writes a task and then what becomes of it, as server-sent events, until it ends.
func (e *exchange) stream(id c3po.MessageID) {
	var out *events
	var last task
	var failed error
	err := e.follow(e.r.Context(), id, func() { out.write(": here\n\n") }, func(t task) bool {
		switch {
		case out == nil:
			shown, err := e.render(t, -1, true)
			if failed = err; err != nil {
				return false
			}
			out = e.openEvents()
			out.send(e.v.wrap("task", shown))
			if e.v == v03 && t.state.terminal() {
				out.send(e.statusUpdate(t))
			}
		case t.state != last.state || t.says != last.says:
			if t.state == completed && t.Answer != nil && !t.Answer.BodyGone {
				out.send(e.v.wrap("artifactUpdate", wireArtifactUpdate{
					Kind: e.v.kind("artifact-update"), TaskID: t.id(), ContextID: contextOf(t.Question), Artifact: t.artifact(e.v), LastChunk: true,
				}))
			}
			out.send(e.statusUpdate(t))
		}
		last = t
		return out.err == nil && !t.state.terminal()
	})
	switch {
	case out == nil:
		e.refuse(cmp.Or(err, failed))
	case out.err == nil && e.r.Context().Err() == nil && last.state.terminal():
		e.taken(last)
	}
	// A stream that ends before its task does is taken up again by its reader.
}

func (e *exchange) statusUpdate(t task) any {
	update := wireStatusUpdate{Kind: e.v.kind("status-update"), TaskID: t.id(), ContextID: contextOf(t.Question), Status: t.status(e.v)}
	if e.v == v03 {
		final := t.state.terminal()
		update.Final = &final
	}
	return e.v.wrap("statusUpdate", update)
}

// events are a stream to one caller. What went wrong first is kept.
type events struct {
	e    *exchange
	ctrl *http.ResponseController
	err  error
}

func (e *exchange) openEvents() *events {
	header := e.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would keep events until there are many
	e.introduce()
	e.w.WriteHeader(http.StatusOK)
	return &events{e: e, ctrl: http.NewResponseController(e.w)}
}

func (s *events) send(result any) {
	data, err := json.Marshal(s.e.framed(result))
	if err != nil {
		s.err = err
		return
	}
	s.write("data: " + string(data) + "\n\n")
}

func (s *events) write(text string) {
	if s.err != nil {
		return
	}
	if _, s.err = s.w().Write([]byte(text)); s.err == nil {
		s.err = s.ctrl.Flush()
	}
}

func (s *events) w() http.ResponseWriter { return s.e.w }
