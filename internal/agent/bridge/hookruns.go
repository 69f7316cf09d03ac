package bridge

import (
	"context"
	"time"
)

// noteEvery is how often at the most it is written down that a hook has run: a
// session has many, and who asks later wants to know the day.
const noteEvery = time.Minute

// A HookRun is one time that a hook was answered.
type HookRun struct {
	Event string        `json:"event"`
	At    time.Time     `json:"at"`
	Took  time.Duration `json:"took_ns"`
}

// hasRun remembers that a hook was answered. Its client does not wait for
// anything more than that.
func (b *Bridge) hasRun(event string, began time.Time) {
	b.mu.Lock()
	b.ran = HookRun{Event: event, At: began.UTC(), Took: time.Since(began)}
	b.mu.Unlock()
	select {
	case b.notable <- struct{}{}:
	default: // it is known already that there is something to note
	}
}

// noteRuns writes down the last run: the first at once, and the last of all when
// the session ends.
func (b *Bridge) noteRuns(ctx context.Context) {
	for {
		select {
		case <-b.notable:
		case <-ctx.Done():
			select {
			case <-b.notable:
				b.noteRun()
			default:
			}
			return
		}
		b.noteRun()
		select {
		case <-time.After(noteEvery):
		case <-ctx.Done():
		}
	}
}

func (b *Bridge) noteRun() {
	b.mu.Lock()
	last := b.ran
	b.mu.Unlock()
	b.note(last)
}
