package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	reapDue  = 100
	reapTrim = 500
)

// runReaper reaps while this node holds the term. The other nodes ask again when the term
// ends. A term is longer than the pause between passes and shorter than the longest pause
// a tick counts in full, so no lived time is lost when a node dies.
func (h *Hub) runReaper(ctx context.Context) {
	every := h.limits.ReapEvery
	if every <= 0 {
		return
	}
	for pause := every; attempt.Sleep(ctx, pause); {
		another, err := h.store.Reaper(ctx, h.info.Node, every*3/2)
		if err == nil && another > 0 {
			pause = min(another, every)
			continue
		}
		pause = every
		if err == nil {
			err = h.Reap(ctx)
		}
		if err != nil && ctx.Err() == nil {
			h.log.ErrorContext(ctx, "reaper failed", "err", err)
			// Perhaps another node reaches what this one does not.
			h.resign(ctx)
		}
	}
}

// resign lets another node reap.
func (h *Hub) resign(ctx context.Context) {
	if _, err := h.store.Reaper(ctx, h.info.Node, 0); err != nil {
		h.log.WarnContext(ctx, "another node cannot reap until the term of this one is over", "err", err)
	}
}

// Reap makes one pass over all spaces: it lets time pass, buries what has outlived its
// life and forgets what has ended long ago. Several coordinators may reap at once; each
// space is looked after by one. A failure in one space does not stop the others.
func (h *Hub) Reap(ctx context.Context) error {
	spaces, err := h.store.Spaces(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var failures []error
	node.InBatches(spaces, func(space c3po.Space) {
		if err := h.reapSpace(ctx, space); err != nil {
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, fmt.Errorf("space %s: %w", space, err))
		}
	})
	if err := h.store.ForgetSpaces(ctx); err != nil {
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// reapSpace asks one thing of a space in which nothing is due.
func (h *Hub) reapSpace(ctx context.Context, space c3po.Space) error {
	pulse, err := h.store.Tick(ctx, space, h.info.Node, h.limits.ReapEvery)
	if err != nil || !pulse.Due {
		return err
	}
	for {
		due, err := h.store.DueMail(ctx, space, reapDue)
		if err != nil {
			return err
		}
		buried := 0
		for _, letter := range due {
			done, err := h.store.Bury(ctx, space, letter.ID, c3po.ReasonExpired, h.bounce(letter))
			if err != nil {
				return err
			}
			if done {
				buried++
				h.meter.Buried(c3po.ReasonExpired)
				spaceHub{h, space}.tell(ctx, c3po.EventDead, "", letter.ID)
			}
		}
		// If none of them could be buried, the next list would be the same.
		if buried == 0 {
			break
		}
	}
	if err := h.lapseOverdue(ctx, space); err != nil {
		return err
	}
	if err := h.retireSilent(ctx, space); err != nil {
		return err
	}
	if err := h.bringBackAll(ctx, space); err != nil {
		return err
	}
	for {
		forgotten, err := h.store.Trim(ctx, space, reapTrim)
		if err != nil {
			return err
		}
		if forgotten == 0 {
			return nil
		}
	}
}

// bounce tells a sender what became of its message and how to send it again.
func (h *Hub) bounce(letter store.Due) string {
	_, to, _ := letter.ID.Split()
	if queue := to.Queue(); queue != "" {
		return fmt.Sprintf("Your message %s to the role '%s' was not dealt with within %s and has expired. "+
			"list_agents shows who has that capability; to send it again, call send_message with target 'role:%s'.",
			letter.ID, queue, hours(h.limits.MessageLife), queue)
	}
	return fmt.Sprintf("Your message %s to '%s' was neither answered nor acked within %s and has expired. "+
		"get_agent_status shows whether '%s' is there; to send it again, call send_message with target '%s'.",
		letter.ID, to, hours(h.limits.MessageLife), to, to)
}

func hours(d time.Duration) string {
	if d >= time.Hour && d%time.Hour == 0 {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return d.String()
}
