package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
)

// A vigil is what a wait holds while it lasts.
type vigil struct {
	box      *inbox
	id       c3po.AgentID // by which the waiter knows the agent
	release  func()       // its place among those of the account
	deadline *time.Timer
	lapses   *time.Ticker
	waiter   *node.Waiter
	leave    func(over, hungUp bool) // nil while the agent is not attached
	pause    time.Duration           // until the next look if nothing is heard; 0 for never
	late     bool                    // the time is over: one more look
}

// keepVigil begins a wait. It registers before the first look, so that mail that comes
// between the look and the sleep is not slept through.
func (box *inbox) keepVigil(timeout time.Duration, queues []c3po.AgentID) (*vigil, error) {
	release, err := box.hub.accounts.hold(box.caller.Account, false)
	if err != nil {
		return nil, err
	}
	v := &vigil{box: box, id: box.id, release: release, deadline: time.NewTimer(timeout)}
	if len(queues) > 0 {
		v.lapses = time.NewTicker(lapseLook)
	}
	v.waiter = box.hub.wakes.Join(box.space, box.id, queues...)
	if box.rooms != nil {
		v.waiter.Listen(nil)
	}
	if most := box.hub.limits.WaitsPerAgent; most > 0 && v.waiter.Place() > most {
		v.end(context.Background(), false)
		return nil, node.RefuseCrowd(fmt.Sprintf("waits of '%s'", box.id), most)
	}
	return v, nil
}

// subscribe waits until what happens to the agent is heard here.
func (v *vigil) subscribe(ctx context.Context) (ending, error) {
	patience := time.NewTimer(subscribeTimeout)
	defer patience.Stop()
	select {
	case <-v.waiter.Subscribed():
	case <-patience.C:
		v.waiter.StartEarly()
	case <-v.deadline.C:
		v.late = true
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-v.box.hub.draining:
		return drained, nil
	}
	return 0, nil
}

// sleep returns when it is worth looking again, or when the wait cannot go on here.
func (v *vigil) sleep(ctx context.Context) (ending, error) {
	var lapsed, recheck <-chan time.Time
	if v.lapses != nil {
		lapsed = v.lapses.C
	}
	if v.pause > 0 {
		recheck = time.After(v.pause)
	}
	select {
	case <-v.waiter.Signals():
		if v.box.state == c3po.SessionClosed {
			v.box.hub.presence.Moved(v.box.space, v.box.id) // perhaps a run of the agent has come or gone
		}
	case <-lapsed:
	case <-recheck:
	case <-v.deadline.C:
		// Look once more: what came at the last moment is not a timeout.
		v.late = true
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-v.box.hub.draining:
		return drained, nil
	}
	return 0, nil
}

// rename goes on under the name that the agent has now.
func (v *vigil) rename() {
	v.id = v.box.id
	v.waiter.Rename(v.id)
	v.detach(false, false)
}

// detach says that the agent no longer waits here, whether that is for good, and whether its
// caller is gone.
func (v *vigil) detach(over, hungUp bool) {
	if v.leave != nil {
		v.leave(over, hungUp)
		v.leave = nil
	}
}

// end gives up what the wait holds. A call that waited and got its mail does not wait
// again by itself; a session does, and of a call that timed out another slice may follow.
func (v *vigil) end(ctx context.Context, gotMail bool) {
	cut := ctx.Err() != nil
	v.detach(cut || gotMail && v.box.state == c3po.SessionWaiting, cut && v.box.livesByConnection())
	if v.box.took != "" {
		v.waiter.Took(v.box.took)
	}
	v.waiter.Leave()
	if v.lapses != nil {
		v.lapses.Stop()
	}
	v.deadline.Stop()
	v.release()
}
