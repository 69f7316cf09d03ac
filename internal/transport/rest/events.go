package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// keepAlive is how often a silent stream says that it lives: what stands in
	// between cuts connections that are silent for a minute.
	keepAlive = 15 * time.Second
	// lastEventHeader is what a browser sends when it comes back.
	lastEventHeader = "Last-Event-ID"
	// cloudEvents is the format that programs of other makers read.
	cloudEvents = "cloudevents"
)

// eventsQuery reads where a stream shall go on: the place of the last event the
// caller has; nil for now. The header is newer than the address it came with.
func eventsQuery(r *http.Request) (*c3po.EventCursor, error) {
	text := r.Header.Get(lastEventHeader)
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return nil, nil
	}
	after, err := c3po.ParseEventCursor(text)
	return &after, err
}

// eventForm says how an event is written: as it is, or as the caller asks for.
func eventForm(r *http.Request, space c3po.Space) (func(c3po.StreamEvent) any, error) {
	switch format := r.URL.Query().Get("format"); format {
	case "":
		return func(e c3po.StreamEvent) any { return e.Event }, nil
	case cloudEvents:
		return func(e c3po.StreamEvent) any { return e.Event.ForCloud(space, e.At) }, nil
	default:
		return nil, c3po.Errorf(c3po.InvalidRequest, "there is no format %q", format).Suggest("Use format=%s, or leave it out.", cloudEvents)
	}
}

// events streams what changes in the caller's space, until the caller leaves or
// the coordinator stops.
func (s *server) events(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	// Events say no more than traces do.
	if err := operationCalled("trace").Check(caller.Role); err != nil {
		s.refuse(w, r, err)
		return
	}
	after, err := eventsQuery(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	form, err := eventForm(r, caller.Space)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	watch, err := s.hub.As(caller).Watch(r.Context(), after)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer watch.Close()
	out := openStream(w)
	for out.err == nil {
		idle, cancel := context.WithTimeout(r.Context(), keepAlive)
		entries, err := watch.Next(idle)
		cancel()
		switch {
		case r.Context().Err() != nil:
			return
		case err == nil:
			out.entries(entries, form)
		case errors.Is(err, context.DeadlineExceeded):
			out.write(": here\n\n")
		default:
			if !errors.Is(err, c3po.CoordDown) {
				s.note(r, c3po.AsError(err))
			}
			// Stopping, or the store is away: the reader shall come back, and all of
			// them not at once.
			out.write(fmt.Sprintf("retry: %d\n\n", 200+rand.IntN(1800))) // #nosec G404 -- spreads callers, hides nothing
			return
		}
	}
}

// A stream writes server-sent events. What went wrong first is kept.
type stream struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
	err  error
}

func openStream(w http.ResponseWriter) *stream {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Accel-Buffering", "no") // nginx would keep events until there are many
	w.WriteHeader(http.StatusOK)
	out := &stream{w: w, ctrl: http.NewResponseController(w)}
	out.flush()
	return out
}

// entries writes what happened. An event has no name of its own, so that a
// browser gets all kinds by one listener; words about the stream have one.
func (s *stream) entries(entries []c3po.StreamEvent, form func(c3po.StreamEvent) any) {
	var text []byte
	for _, entry := range entries {
		name, value := "", any(entry.Start)
		switch {
		case entry.Start == nil:
			value = form(entry)
		case entry.Start.Recovered:
			name = "event: resume\n"
		default:
			name = "event: reset\n"
		}
		data, err := json.Marshal(value)
		if err != nil {
			s.err = err
			return
		}
		text = fmt.Appendf(text, "id: %s\n%sdata: %s\n\n", entry.At, name, data)
	}
	s.write(string(text))
}

func (s *stream) write(text string) {
	if s.err != nil {
		return
	}
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.flush()
	}
}

func (s *stream) flush() { s.err = s.ctrl.Flush() }
