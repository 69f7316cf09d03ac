package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
)

// Pause tells everybody that an agent, or all of them, should not act.
func (a *Actor) Pause(ctx context.Context, in c3po.PauseInput) (c3po.PauseResult, error) {
	id, err := a.people.pausable(in)
	if err != nil {
		return c3po.PauseResult{}, err
	}
	why := in.Reason
	if why == "" {
		why = c3po.PausedByPerson
	}
	if why == c3po.PausedForHuman {
		return c3po.PauseResult{}, refuse("%q is what agents that asked a person are shown with", why)
	}
	return a.people.setPaused(ctx, in, id, why)
}

// Resume ends a pause.
func (a *Actor) Resume(ctx context.Context, in c3po.PauseInput) (c3po.PauseResult, error) {
	id, err := a.people.pausable(in)
	if err != nil {
		return c3po.PauseResult{}, err
	}
	return a.people.setPaused(ctx, in, id, "")
}

// isNewlyPaused reports whether a wait of the caller ends because it is paused, which
// each of its sessions reads once.
func (me *identity) isNewlyPaused(why string) bool { return me.hub.bindings.notePause(me.key(), why) }

// pausedWhy is why the caller is paused; empty if it is not.
func (me *identity) pausedWhy(ctx context.Context) (string, error) {
	records, err := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{me.id})
	if err != nil || len(records) == 0 {
		return "", err
	}
	return records[0].Paused, nil
}

// whilePaused is how a wait of a paused agent ends, at once or when its time is over.
func whilePaused(why string, timeout time.Duration, over bool) *c3po.WaitOutcome {
	outcome := &c3po.WaitOutcome{
		Status: c3po.WaitPaused, Code: c3po.AgentUnavailable, Message: pausedNotice(why),
		Suggestion: "Stop working for other agents. Only your user's words reach you here; everything else is kept, and arrives once you are resumed. Wait again for that.",
	}
	if over {
		outcome.Status, outcome.Code = c3po.WaitTimeout, c3po.Timeout
		outcome.Message = fmt.Sprintf("No message received within %d seconds: %s", timeout/time.Second, outcome.Message)
	}
	return outcome
}

// pausedNotice says to an agent that it is paused.
func pausedNotice(why string) string {
	switch why {
	case c3po.PausedForHuman:
		return "you have asked your user, and are paused until they answer"
	case c3po.PausedByPerson:
		return "your user has paused you"
	default:
		return fmt.Sprintf("your user has paused you: %s", why)
	}
}

// whenPaused is the notice for an agent that has sent something while it was paused.
func whenPaused(why string) string {
	if why == "" {
		return ""
	}
	return pausedNotice(why) + "; this was sent all the same"
}

// minding is a quest that also looks when the caller is paused or resumed. A pause of the
// whole space wakes only waiters that follow an agent, so it follows the caller.
type minding struct {
	looking
	me *identity
}

func (m minding) look(ctx context.Context, w *node.Waiter) (bool, error) {
	w.Follow(m.me.id)
	return m.looking(ctx)
}

// pausable checks the input; an empty id stands for the whole space.
func (d directory) pausable(in c3po.PauseInput) (c3po.AgentID, error) {
	if err := d.person(); err != nil {
		return "", err
	}
	if in.All == (in.AgentID != "") {
		return "", c3po.Errorf(c3po.InvalidRequest, "give either agent_id or all").Suggest("Name one agent, or set all.")
	}
	if err := checkLabels(label{"reason", in.Reason, maxReasonBytes}); err != nil {
		return "", err
	}
	if in.All {
		return "", nil
	}
	return c3po.ParseAgentID(in.AgentID)
}

func (d directory) setPaused(ctx context.Context, in c3po.PauseInput, id c3po.AgentID, why string) (c3po.PauseResult, error) {
	if err := d.hub.store.SetPaused(ctx, d.space, id, why); err != nil {
		return c3po.PauseResult{}, err
	}
	d.hub.marks.Touch(d.space, 0)
	kind := c3po.EventPaused
	if why == "" {
		kind = c3po.EventResumed
	}
	d.tell(ctx, kind, id, "")
	if in.All {
		return c3po.PauseResult{All: true, Paused: paused(why)}, nil
	}
	// An agent that was resumed may still be held by the pause of the space.
	record, err := d.record(ctx, id)
	if err != nil {
		return c3po.PauseResult{AgentID: id, Paused: paused(why), Notice: d.doneBut(ctx, "it is done, but whether all agents are paused cannot be read now", err)}, nil
	}
	return c3po.PauseResult{AgentID: id, Paused: paused(record.Paused)}, nil
}
