package hub

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	maxEvidenceBytes = 200
	// heldUpLook is how many messages of a mailbox are looked at when its agent is held up.
	heldUpLook = 200
)

// checkQuota holds a report to what can be so. Its evidence is a provider's text, and no
// reason to lose the rest: what can't be kept of it is spelt out or cut.
func checkQuota(report *c3po.QuotaReport) error {
	if report == nil {
		return nil
	}
	if most := c3po.MaxOutOfQuota.Milliseconds(); report.RetryInMS < 0 || report.RetryInMS > most {
		return refuse("retry_in_ms is %d; it must be between 0 and %d", report.RetryInMS, most)
	}
	return nil
}

// reportQuota records that the caller is out of quota, or no longer is. What it has claimed
// of roles is for others meanwhile, and each asker whose question waits hears it once.
func (box *inbox) reportQuota(ctx context.Context, report *c3po.QuotaReport) error {
	if report == nil {
		return nil
	}
	length := time.Duration(report.RetryInMS) * time.Millisecond
	step := store.QuotaStep{Agent: box.id, Run: box.caller.Run, For: length, Exact: report.Exact, Evidence: sanitise.Label(report.Evidence, maxEvidenceBytes)}
	if err := box.hub.store.SetQuota(ctx, box.space, step); err != nil {
		return box.dropIfSuperseded(err)
	}
	box.hub.marks.Touch(box.space, 0)
	held, err := box.inHand(ctx, length > 0)
	if err != nil {
		return err
	}
	if length == 0 {
		return box.holdUp(ctx, held, store.GoesOn, nil)
	}
	now, err := box.hub.store.Now(ctx)
	if err != nil {
		return err
	}
	quota := c3po.OutOfQuota{Until: now.Add(length), Since: now, Exact: report.Exact}
	return box.holdUp(ctx, held, store.HeldUpByQuota, func(id c3po.MessageID) string {
		return fmt.Sprintf("'%s' is out of quota %s. Your message %s waits for it.", box.id, quota.When(), id)
	})
}

// inHand is the mail that the caller has to deal with: what it has claimed of its roles,
// and its own if that is wanted.
func (box *inbox) inHand(ctx context.Context, own bool) ([]store.Entry, error) {
	var held []store.Entry
	query := store.InboxQuery{Run: box.caller.Run, Limit: heldUpLook, Bytes: box.hub.limits.PageBytes}
	if own {
		page, err := box.hub.store.Inbox(ctx, box.space, box.id, query)
		if err != nil {
			return nil, box.dropIfSuperseded(err)
		}
		held = page.Entries
	}
	query.Member = box.id
	for _, queue := range box.queues() {
		page, err := box.hub.store.Inbox(ctx, box.space, queue, query)
		if err != nil {
			return nil, box.dropIfSuperseded(err)
		}
		for _, entry := range page.Entries {
			if entry.Facts.Claim != nil && entry.Facts.Claim.By == box.id {
				held = append(held, entry)
			}
		}
	}
	return held, nil
}

// holdUp takes one step for each message. Of a role's nobody is told: another member may
// take it at once.
func (box *inbox) holdUp(ctx context.Context, held []store.Entry, why store.HoldUpReason, notice func(c3po.MessageID) string) error {
	durability, err := box.hub.store.Durability(ctx)
	if err != nil {
		return err
	}
	for _, entry := range held {
		m := entry.Message
		role := m.ToAgent.Queue() != ""
		if !role && !m.ExpectsReply {
			continue
		}
		step := store.HoldUpStep{Agent: box.id, Run: box.caller.Run, ID: m.ID, Why: why, Durability: durability}
		if notice != nil && m.ExpectsReply && (!role || why == store.Stalled) && m.FromAgent != c3po.Human { // the person's mailbox is for decisions only
			step.To, step.Notice = m.FromAgent, notice(cmp.Or(m.Ticket, m.ID))
		}
		changed, err := box.holdUpOne(ctx, step)
		if err != nil {
			return err
		}
		if changed && why == store.Stalled && m.ExpectsReply && box.hub.stalls {
			box.hub.notices.TellStall(node.Stall{Space: box.space, Question: m.ID, From: m.FromAgent, Agent: box.id, AskedAt: m.Timestamp})
		}
	}
	return nil
}

// holdUpOne takes one such step, and says whether it changed something.
func (box *inbox) holdUpOne(ctx context.Context, step store.HoldUpStep) (changed bool, err error) {
	err = box.tellAsker(ctx, step.To, func(to c3po.AgentID) (bool, error) {
		step.To = to
		done, err := box.hub.store.HoldUp(ctx, box.space, step)
		changed = done.Changed
		return done.Changed, err
	})
	return changed, err
}

// untilQuota is a quest that finds nothing while the agent is out of quota: what would be
// started for its mail could not read it.
type untilQuota struct {
	quest
	box  *inbox
	left time.Duration
}

func (q *untilQuota) look(ctx context.Context, w *node.Waiter) (bool, error) {
	found, err := q.quest.look(ctx, w)
	q.left = 0
	if err != nil || !found {
		return found, err
	}
	q.left, err = q.box.quotaLeft(ctx)
	return q.left == 0, err
}

func (q *untilQuota) again() time.Duration {
	if q.left > 0 {
		return q.left
	}
	return q.quest.again()
}

// quotaLeft is for how long the caller is still out of quota; 0 if it is not.
func (box *inbox) quotaLeft(ctx context.Context) (time.Duration, error) {
	records, err := box.hub.store.Agents(ctx, box.space, []c3po.AgentID{box.id})
	if err != nil || len(records) == 0 || records[0].OutOfQuota == nil {
		return 0, err
	}
	now, err := box.hub.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	return max(time.Millisecond, records[0].OutOfQuota.Until.Sub(now)), nil
}
