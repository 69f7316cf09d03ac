package session

import (
	"context"
	"time"
)

// noteEvery bounds how often a hook's run is recorded: a session has many, and readers
// only need to know the day.
const noteEvery = time.Minute

// A HookRun is one time that a hook was answered.
type HookRun struct {
	Event string        `json:"event"`
	At    time.Time     `json:"at"`
	Took  time.Duration `json:"took_ns"`
}

// hasRun remembers that a hook was answered. Its client does not wait for
// anything more than that.
func (s *Server) hasRun(event string, began time.Time) {
	s.mu.Lock()
	s.ran = HookRun{Event: event, At: began.UTC(), Took: time.Since(began)}
	s.mu.Unlock()
	select {
	case s.notable <- struct{}{}:
	default: // it is known already that there is something to note
	}
}

// noteRuns writes down the last run: the first at once, and the last of all when
// the session ends.
func (s *Server) noteRuns(ctx context.Context) {
	for {
		select {
		case <-s.notable:
		case <-ctx.Done():
			select {
			case <-s.notable:
				s.noteRun()
			default:
			}
			return
		}
		s.noteRun()
		select {
		case <-time.After(noteEvery):
		case <-ctx.Done():
		}
	}
}

func (s *Server) noteRun() {
	s.mu.Lock()
	last := s.ran
	s.mu.Unlock()
	s.note(last)
}
