package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	waitSlice    = 10 * time.Minute // of one long poll, which the client cuts further
	minAwayPause = time.Second
	maxAwayPause = 30 * time.Second
	maxLetters   = 50 // messages; more than one run deals with
)

// mailWatch fires when its agent has mail and no person has paused it. It asks
// the coordinator to be told; where that fails it looks by itself.
func (r *Runner) mailWatch(c *client.Client) watch {
	return func(ctx context.Context) (firing, bool) {
		away := attempt.Backoff{Min: minAwayPause, Max: maxAwayPause}
		paused := ""
		for {
			found, err := resident.Look(ctx, c, c3po.PendingInput{Timeout: int(waitSlice / time.Second), Limit: maxLetters, Paused: &paused}, maxLetters, nil)
			if err != nil && ctx.Err() == nil && !errors.Is(err, c3po.CoordDown) {
				found, err = resident.Look(ctx, c, c3po.PendingInput{Limit: maxLetters, Paused: &paused}, maxLetters, nil)
			}
			switch {
			case ctx.Err() != nil:
				return firing{}, false
			case err != nil:
				r.cfg.Log.WarnContext(ctx, "cannot look for mail", "agent", c.ID(), "err", err)
				if !attempt.Sleep(ctx, away.Step()) {
					return firing{}, false
				}
				continue
			}
			away.Reset()
			if found.Paused != nil {
				paused = *found.Paused
			}
			if found.Count > 0 && paused == "" {
				return firing{why: "mail", mail: found.IDs()}, true
			}
			// Who is paused has mail that does not wake it: wait for the pause to end.
			if found.Count > 0 && !attempt.Sleep(ctx, lookEvery) {
				return firing{}, false
			}
		}
	}
}

// allUntouched says that all of this mail is still there, so nothing was dealt
// with. Where that cannot be seen it was.
func allUntouched(ctx context.Context, c *client.Client, mail []c3po.MessageID) bool {
	if len(mail) == 0 {
		return false
	}
	now, err := resident.Look(ctx, c, c3po.PendingInput{Limit: maxLetters}, maxLetters, nil)
	there := now.IDs()
	return err == nil && !slices.ContainsFunc(mail, func(id c3po.MessageID) bool { return !slices.Contains(there, id) })
}
