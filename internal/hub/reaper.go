package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po"
)

const (
	reapDue  = 100
	reapTrim = 500
)

func (h *Hub) runReaper(ctx context.Context) {
	if h.limits.ReapEvery <= 0 {
		return
	}
	tick := time.NewTicker(h.limits.ReapEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := h.Reap(ctx); err != nil && ctx.Err() == nil {
				h.log.ErrorContext(ctx, "reaper failed", "err", err)
			}
		}
	}
}

// Reap makes one pass over all spaces: it lets time pass, buries what has
// outlived its life and forgets what has ended long ago. Several coordinators
// may do so at once. What fails in one space does not keep it from the others.
func (h *Hub) Reap(ctx context.Context) error {
	spaces, err := h.store.Spaces(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, space := range spaces {
		if err := h.reapSpace(ctx, space); err != nil {
			failures = append(failures, fmt.Errorf("space %s: %w", space, err))
		}
	}
	return errors.Join(failures...)
}

func (h *Hub) reapSpace(ctx context.Context, space c3po.Space) error {
	if _, err := h.store.Tick(ctx, space, h.limits.ReapEvery); err != nil {
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
				h.log.InfoContext(ctx, "changed", "kind", c3po.EventDead, "space", space, "message_id", letter.ID)
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
func (h *Hub) bounce(letter Due) string {
	_, to, _ := letter.ID.Split()
	if role := to.Role(); role != "" {
		return fmt.Sprintf("Your message %s to the role '%s' was not dealt with within %s and has expired. "+
			"list_agents shows who has that capability; to send it again, call send_message with target 'role:%s'.",
			letter.ID, role, hours(h.limits.MessageLife), role)
	}
	return fmt.Sprintf("Your message %s to '%s' was not read within %s and has expired. "+
		"get_agent_status shows whether '%s' is there; to send it again, call send_message with target '%s'.",
		letter.ID, to, hours(h.limits.MessageLife), to, to)
}

func hours(d time.Duration) string {
	if d >= time.Hour && d%time.Hour == 0 {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return d.String()
}
