// Package resident is an agent that stays while its program runs: it keeps its place at
// a coordinator whatever that does, looks at its mail without taking it, and says goodbye.
// The tools of a session, the terminal wrapper and the runner share it; what each makes
// of the mail is its own. It starts nothing and prints nothing.
package resident

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	// MaxLetters is how much of an inbox is looked at: counts beyond it are not exact.
	MaxLetters = 1000
)

// Backoff is the pace at which a resident tries again what a coordinator did not take.
func Backoff() attempt.Backoff { return attempt.Backoff{Min: firstPause, Max: maxPause} }

// Stay keeps an agent with its coordinator until ctx ends, and says whether it ever
// was: settle makes it known there, and watch, which always ends with an error, takes in
// what arrives. Why it is not there goes to away, with whether it was until just now;
// away says whether to try again at once.
func Stay(ctx context.Context, settle, watch func(context.Context) error, away func(err error, first bool) (atOnce bool)) (was bool) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		err := settle(ctx)
		if err == nil {
			was, pause = true, firstPause
			err = watch(ctx)
		}
		if ctx.Err() != nil {
			break
		}
		if !away(err, pause == firstPause) {
			attempt.Sleep(ctx, attempt.Jitter(pause))
		}
	}
	return was
}

// A View is unacked mail as it was found.
type View struct {
	Mail   []hook.Letter
	Texts  []c3po.Message // of the mail whose text was asked for
	Seq    int64          // mail is known up to here
	Count  int            // of all mail, read here or not
	Posts  int            // of rooms, unread
	Paused *string        // why the agent is paused, empty if it is not; nil from a coordinator that did not say
}

// IDs names the mail of a view.
func (v View) IDs() []c3po.MessageID {
	ids := make([]c3po.MessageID, len(v.Mail))
	for i, l := range v.Mail {
		ids[i] = l.ID
	}
	return ids
}

// Look reads unacked mail without its counting as seen, page after page until there
// are most of them, and the texts that keep asks for, which may be nil.
func Look(ctx context.Context, svc c3po.Service, in c3po.PendingInput, most int, keep func(c3po.Message) bool) (View, error) {
	if in.Paused == nil {
		in.Paused = new(string) // any word makes the coordinator say what it knows
	}
	var seen View
	for {
		page, err := svc.Pending(ctx, in)
		if err != nil {
			return View{}, err
		}
		if seen.Seq == 0 {
			// Of the first page: what comes later is found again.
			seen.Seq, seen.Count, seen.Posts, seen.Paused = page.Seq, page.Count, page.RoomUnread, page.Paused
		}
		for _, m := range page.Messages {
			if _, ok := m.Verdict(); ok {
				continue // for the hook that waits for it
			}
			seen.Mail = append(seen.Mail, hook.LetterOf(m))
			if keep != nil && keep(m) {
				seen.Texts = append(seen.Texts, m)
			}
		}
		if page.Next == "" || len(seen.Mail) >= most {
			return seen, nil
		}
		in.Cursor, in.Timeout = page.Next, 0
	}
}

// Letters is mail in the order it came.
func Letters(mail map[c3po.MessageID]hook.Letter) []hook.Letter {
	return slices.SortedFunc(maps.Values(mail), func(a, b hook.Letter) int { return int(a.Seq - b.Seq) })
}

// Leave ends the agent's session, which keeps its id and its mail, and says whether the
// coordinator knows.
func Leave(ctx context.Context, svc c3po.Service, log *slog.Logger) bool {
	_, err := svc.Unregister(ctx, c3po.None{})
	if err != nil {
		log.InfoContext(ctx, "cannot say goodbye", "err", err)
	}
	return err == nil
}
