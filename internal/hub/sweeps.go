package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// sweepOlder is the silence that is swept if the person does not say.
	sweepOlder = 24 * time.Hour
	// maxSweep is how many agents one call sweeps.
	maxSweep  = 500
	sweepPage = 100
)

// errNoTime ends a sweep that has taken as long as a call can.
var errNoTime = errors.New("no time is left")

// Sweep retires agents that were silent for long, at a person's word. Their
// unread mail becomes dead letters, which come back with them.
func (a *Actor) Sweep(ctx context.Context, in c3po.SweepInput) (c3po.SweepResult, error) {
	if in.AgentID != "" {
		return a.forget(ctx, in)
	}
	older := sweepOlder
	if in.Older != "" {
		var err error
		if older, err = parseAge("older", in.Older); err != nil {
			return c3po.SweepResult{}, err
		}
	}
	silent, err := a.hub.store.Silent(ctx, a.space, older, maxScanned)
	if err != nil {
		return c3po.SweepResult{}, err
	}
	result := c3po.SweepResult{DryRun: in.DryRun, Swept: []c3po.SweptAgent{}}
	until := time.Now().Add(maxCallTime)
	together := map[c3po.AgentID]bool{}
	for _, s := range silent {
		together[s.ID] = true
	}
	for _, s := range silent {
		if len(result.Swept) == maxSweep || time.Now().After(until) {
			result.More = true
			break
		}
		swept, letters, err := a.sweepOne(ctx, s, together, older, until, in.DryRun)
		if errors.Is(err, errNoTime) {
			result.More = true
			result.Notice = unfinished(s.ID, letters)
			break
		}
		if err != nil {
			if in.DryRun || len(result.Swept) == 0 && letters == 0 {
				return c3po.SweepResult{}, err
			}
			result.More, result.Notice = true, a.stoppedAt(ctx, err)
			if letters > 0 {
				result.Notice = sentences(result.Notice, unfinished(s.ID, letters))
			}
			break
		}
		if swept != nil {
			result.Swept = append(result.Swept, *swept)
		}
	}
	if !in.DryRun && len(result.Swept) > 0 {
		a.hub.marks.Touch(a.space, 0)
	}
	return result, nil
}

// unfinished is the notice of an agent that was swept in part.
func unfinished(id c3po.AgentID, letters int) string {
	return fmt.Sprintf("Of '%s', which is still registered, %d letters are dead letters; they come back if it does", id, letters)
}

// forget sweeps one agent. A call made it look online if no session of it runs.
func (a *Actor) forget(ctx context.Context, in c3po.SweepInput) (c3po.SweepResult, error) {
	if in.Older != "" {
		return c3po.SweepResult{}, refuse("give agent_id or older, not both")
	}
	id, err := c3po.ParseAgentID(in.AgentID)
	if err != nil {
		return c3po.SweepResult{}, err
	}
	records, err := a.hub.store.Agents(ctx, a.space, []c3po.AgentID{id})
	if err != nil {
		return c3po.SweepResult{}, err
	}
	switch {
	case len(records) == 0:
		return c3po.SweepResult{}, a.people.noAgent(ctx, id)
	case records[0].Attached:
		return c3po.SweepResult{}, refuse("a session of '%s' runs, or its host starts one for mail", id).
			Suggest("End the session first, or on its host run: c3po attend deny %s", id)
	}
	if !in.DryRun && records[0].Online {
		if _, err := a.hub.store.Unregister(ctx, a.space, id, records[0].Run, ""); err != nil {
			return c3po.SweepResult{}, err
		}
		a.hub.bindings.dropAgent(a.space, id)
		a.hub.presence.Moved(a.space, id)
	}
	result := c3po.SweepResult{DryRun: in.DryRun, Swept: []c3po.SweptAgent{}}
	gone := &c3po.SweptAgent{ID: id, SilentFor: int64(max(0, time.Since(records[0].Seen)) / time.Second), LastSeen: records[0].Seen}
	gone, letters, err := a.removeAgent(ctx, gone, nil, 0, time.Now().Add(maxCallTime), in.DryRun)
	if errors.Is(err, errNoTime) {
		result.More, result.Notice = true, unfinished(id, letters)
		return result, nil
	}
	if err == nil && gone != nil {
		result.Swept = append(result.Swept, *gone)
		a.hub.marks.Touch(a.space, 0)
	}
	return result, err
}

// sweepOne gives nil for an agent that is there after all, and how many letters
// were buried also if it fails then.
func (s spaceHub) sweepOne(ctx context.Context, silent store.Silence, together map[c3po.AgentID]bool, older time.Duration, until time.Time, dryRun bool) (swept *c3po.SweptAgent, letters int, err error) {
	records, err := s.hub.store.Agents(ctx, s.space, []c3po.AgentID{silent.ID})
	if err != nil || len(records) == 0 || records[0].Online {
		return nil, 0, err
	}
	swept = &c3po.SweptAgent{ID: silent.ID, SilentFor: int64(silent.For / time.Second), LastSeen: records[0].Seen}
	return s.removeAgent(ctx, swept, together, older, until, dryRun)
}

// removeAgent retires an agent and buries its mail. It gives nil for one that is there
// after all, and how many letters were buried also if it fails then; errNoTime if some are
// left at the time until.
func (s spaceHub) removeAgent(ctx context.Context, swept *c3po.SweptAgent, together map[c3po.AgentID]bool, older time.Duration, until time.Time, dryRun bool) (_ *c3po.SweptAgent, letters int, err error) {
	if dryRun {
		swept.Letters, err = s.hub.store.InboxSize(ctx, s.space, swept.ID)
		return swept, 0, err
	}
	for {
		// The store has the last word on who is silent, before any mail is moved.
		// Mail that comes while it is moved is found by the next round.
		outcome, err := s.hub.retire(ctx, s.space, swept.ID, older, true)
		if err != nil {
			return nil, swept.Letters, err
		}
		switch outcome {
		case store.RetireDone:
			s.tell(ctx, c3po.EventRetired, swept.ID, "")
			return swept, 0, nil
		case store.RetireMail:
			buried, err := s.buryInbox(ctx, swept.ID, together, until)
			swept.Letters += buried
			if err != nil {
				return nil, swept.Letters, err
			}
		default:
			// If it came back meanwhile, so does what was taken from it.
			return nil, swept.Letters, s.hub.bringBack(ctx, s.space, swept.ID)
		}
	}
}

// buryInbox makes dead letters of all unread mail of an agent; errNoTime if some is left.
// Senders that are swept together with it get no bounce, which would die with them.
func (s spaceHub) buryInbox(ctx context.Context, id c3po.AgentID, together map[c3po.AgentID]bool, until time.Time) (buried int, err error) {
	for {
		page, err := s.hub.store.Inbox(ctx, s.space, id, store.InboxQuery{Limit: sweepPage, Bytes: s.hub.limits.PageBytes})
		if err != nil || len(page.Entries) == 0 {
			return buried, err
		}
		for _, entry := range page.Entries {
			if buried > 0 && time.Now().After(until) {
				return buried, errNoTime
			}
			mail, bounce := entry.Message.ID, ""
			if !together[entry.Message.FromAgent] {
				bounce = removalNotice(mail)
			}
			done, err := s.hub.store.Bury(ctx, s.space, mail, c3po.ReasonRecipientRemoved, bounce)
			if err != nil {
				return buried, err
			}
			if done {
				buried++
				s.hub.meter.Buried(c3po.ReasonRecipientRemoved)
				s.tell(ctx, c3po.EventDead, "", mail)
			}
		}
	}
}

// removalNotice tells a sender that its recipient is gone, and that it need not act.
func removalNotice(mail c3po.MessageID) string {
	_, to, _ := mail.Split()
	return fmt.Sprintf("Your message %s to '%s' was neither answered nor acked: a person has removed '%s'. "+
		"If it comes back it gets the message, and you get a notice.", mail, to, to)
}
