package node

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// linger keeps an agent attached between two waits, so that a client that
	// waits in slices costs no write a slice.
	linger = 3 * time.Second
	// slice is the gap between two waits in which the agent cannot have been
	// elsewhere, so that its place here is still what the store has.
	slice = 500 * time.Millisecond
	// between is how long the store is not told that the last wait of an agent is over: a
	// program that acks its mail and waits again would cost two writes each time. This
	// node knows at once, so it corrects what the store says.
	between = 250 * time.Millisecond
	// detachEvery is how often the node looks for agents that have left.
	detachEvery = time.Second
)

// Presence says which agents this node holds a wait of. It costs a write when
// an agent comes and one when it goes, and one lease a space for all of them.
type Presence struct {
	store store.Store
	log   *slog.Logger
	node  string
	lease time.Duration
	// stopped says that a process of this host is halted; may be nil.
	stopped func(pid int) bool

	mu       sync.Mutex
	attached map[agentKey]*attachment
	// leaving holds the agents without a wait, in the order they lost it; one that has
	// come back is skipped when its turn comes.
	leaving []departure
	// quiet holds the same agents until it is sure that no other wait follows: from
	// then on nothing wakes them. Of those in over that is sure, and the store is not
	// told yet.
	quiet  []departure
	over   []departure
	poke   chan struct{} // nothing waits for somebody any more, or may soon not: look
	leases map[c3po.Space]*lease

	// wall is the time on this machine's clock. It was ahead by so much of the time that has
	// passed for this process since it began.
	wall   func() time.Time
	began  time.Time
	ahead  time.Duration
	jumped chan struct{} // renew all leases now
}

type agentKey struct {
	space c3po.Space
	id    c3po.AgentID
}

type attachment struct {
	waits []Wait
	left  time.Time // when the last wait ended
	pid   int       // whose that was
	// halted are the processes that wait here, or were the last to, and are stopped.
	// Their connections stay open, but nothing reads from them.
	halted []int
	// hungUp says that it ended because its caller was gone, and that this caller
	// lives no longer than its connection.
	hungUp bool
	over   bool // no other wait follows the last one by itself
	// turn is a lock that can be given up waiting for. It keeps an attach and a
	// detach of the same agent from overtaking each other on their way.
	turn   chan struct{}
	stored bool // the store has the agent at this node, in this state
	state  c3po.SessionState
	since  time.Time
	tries  bool // it is in leaving only to be stored again
}

type departure struct {
	agentKey
	due time.Time
}

type lease struct {
	agents  int
	renewed time.Time
}

// NewPresence makes an empty Presence. If stopped is nil, no process counts as halted.
func NewPresence(store store.Store, log *slog.Logger, node string, length time.Duration, stopped func(pid int) bool) *Presence {
	return &Presence{
		store: store, log: log, node: node, lease: length, stopped: stopped,
		attached: map[agentKey]*attachment{}, poke: make(chan struct{}, 1), leases: map[c3po.Space]*lease{},
		wall: func() time.Time { return time.Now().Round(0) }, began: time.Now(), jumped: make(chan struct{}, 1),
	}
}

// Attach says that a wait of the agent sleeps here until the returned function
// is called, with whether it is over for good, and whether its caller is gone with it. It
// never fails: a wait whose presence could not be written down still brings its mail. The
// place is the node that the store has just had the agent at; empty if that is not known.
func (p *Presence) Attach(ctx context.Context, space c3po.Space, id c3po.AgentID, place string, by Wait) (leave func(over, hungUp bool)) {
	key := agentKey{space, id}
	p.mu.Lock()
	held := p.hold(key)
	// After a wait that brought mail it may have waited elsewhere, however short the gap. For
	// a closed session its host waits, and another may have had its name meanwhile.
	if len(held.waits) == 0 && (time.Since(held.left) >= slice || (held.over || by.State == c3po.SessionClosed) && place != p.node) {
		held.stored = false
	}
	held.waits = append(held.waits, by)
	held.halted = slices.DeleteFunc(held.halted, func(pid int) bool { return pid == by.PID }) // it has called
	held.settle()
	p.mu.Unlock()
	p.write(ctx, key, held)
	return func(over, hungUp bool) { p.leave(key, held, by, over, hungUp) }
}

// hold is what is known of an agent here. It is called with the lock held.
func (p *Presence) hold(key agentKey) *attachment {
	held := p.attached[key]
	if held == nil {
		held = &attachment{turn: make(chan struct{}, 1)}
		p.attached[key] = held
		if p.leases[key.space] == nil {
			p.leases[key.space] = &lease{}
		}
		p.leases[key.space].agents++
	}
	return held
}

func (p *Presence) write(ctx context.Context, key agentKey, held *attachment) {
	ctx, cancel := context.WithTimeout(ctx, GoodbyeTimeout)
	defer cancel()
	select {
	case held.turn <- struct{}{}:
		defer func() { <-held.turn }()
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		p.writeLater(key, held)
		return
	}
	stored, state := p.isStored(held)
	if stored {
		return
	}
	if p.leaseIsDue(key.space, p.renewEvery()) {
		p.renew(ctx, key.space)
	}
	if err := p.store.Attach(ctx, key.space, key.id, p.node, state); err != nil {
		p.log.DebugContext(ctx, "agent is not attached", "space", key.space, "agent", key.id, "err", err)
		p.mu.Lock()
		defer p.mu.Unlock()
		if c3po.AsError(err).Code.Retry() == c3po.RetryNo {
			p.tryAgain(key, held)
		} else {
			p.writeLater(key, held)
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	held.stored = held.state == state // else another wait is about to write
}

func (p *Presence) isStored(held *attachment) (stored bool, state c3po.SessionState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return held.stored, held.state
}

func (p *Presence) leave(key agentKey, held *attachment, by Wait, over, hungUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(held.waits, by); i >= 0 {
		held.waits = slices.Delete(held.waits, i, i+1)
	}
	if len(held.waits) > 0 {
		if held.settle() {
			p.leaving = append(p.leaving, departure{key, time.Now()})
		}
		return
	}
	held.left, held.pid, held.hungUp, held.over = time.Now(), by.PID, hungUp, over
	p.leaving = append(p.leaving, departure{key, held.left.Add(linger)})
	list, due := &p.quiet, held.left.Add(slice)
	if over {
		list, due = &p.over, held.left.Add(between)
	}
	if *list = append(*list, departure{key, due}); len(*list) == 1 {
		p.wake()
	}
}

// left is when the last wait of an agent was over, if the store may not know yet that it
// does not wait here any more.
func (p *Presence) left(space c3po.Space, id c3po.AgentID) (at time.Time, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.attached[agentKey{space, id}]
	if held == nil || !held.over || len(held.waits)+len(held.halted) > 0 {
		return time.Time{}, false
	}
	return held.left, true
}

func (p *Presence) wake() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// RunDetaches says of agents without a wait that they have left, until ctx ends.
func (p *Presence) RunDetaches(ctx context.Context) {
	tick := time.NewTicker(detachEvery)
	defer tick.Stop()
	for {
		var due <-chan time.Time
		if first, some := p.firstQuiet(); some {
			due = time.After(time.Until(first))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.lookAtClock()
			p.lookAtProcesses(time.Now())
		case <-due:
		case <-p.poke:
		}
		gone, changed := p.takeDeparted(time.Now())
		InBatches(gone, func(key agentKey) { p.detach(ctx, key) })
		InBatches(changed, func(key agentKey) { p.rewrite(ctx, key) })
	}
}

// firstQuiet is when the store is next to be told that an agent waits no longer.
func (p *Presence) firstQuiet() (first time.Time, some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range [][]departure{p.quiet, p.over} {
		if len(list) > 0 && (!some || list[0].due.Before(first)) {
			first, some = list[0].due, true
		}
	}
	return first, some
}

// rewrite writes down what has changed of an agent that is still attached.
func (p *Presence) rewrite(ctx context.Context, key agentKey) {
	p.mu.Lock()
	held := p.attached[key]
	p.mu.Unlock()
	if held != nil {
		p.write(ctx, key, held)
	}
}

// takeDeparted are the agents that have left, and those whose remaining waits are not
// as the store has it.
func (p *Presence) takeDeparted(now time.Time) (gone, changed []agentKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for ; n < len(p.leaving) && !p.leaving[n].due.After(now); n++ {
		key := p.leaving[n].agentKey
		held := p.attached[key]
		if held == nil {
			continue
		}
		held.tries = false
		if p.isGone(key, now) {
			gone = append(gone, key)
		} else if (len(held.waits) > 0 || len(held.halted) > 0) && !held.stored {
			changed = append(changed, key)
		}
	}
	p.leaving = without(p.leaving, n)
	changed = append(changed, p.quietened(&p.quiet, slice, now)...)
	changed = append(changed, p.quietened(&p.over, between, now)...)
	return gone, changed
}

// quietened takes off the list whose turn has come, and gives those that have had no wait
// for so long. It is called with the lock held.
func (p *Presence) quietened(list *[]departure, patience time.Duration, now time.Time) (changed []agentKey) {
	n := 0
	for ; n < len(*list) && !(*list)[n].due.After(now); n++ {
		key := (*list)[n].agentKey
		held := p.attached[key]
		// One that has waited again since is in a list once more, for its last wait.
		if held == nil || len(held.waits) > 0 || now.Sub(held.left) < patience {
			continue
		}
		if held.settle() && !p.isGone(key, now) {
			changed = append(changed, key)
		}
	}
	*list = without(*list, n)
	return changed
}

// without is a list without its first n. Their memory is given back when the list is empty
// or has to grow. A list of seconds is not copied for each that is taken off it.
func without(list []departure, n int) []departure {
	if n == len(list) {
		return nil
	}
	clear(list[:n])
	return list[n:]
}

// isGone is called with the lock held.
func (p *Presence) isGone(key agentKey, now time.Time) bool {
	held := p.attached[key]
	return held != nil && len(held.waits) == 0 && len(held.halted) == 0 && now.Sub(held.left) >= linger
}

func (p *Presence) detach(ctx context.Context, key agentKey) {
	ctx, cancel := context.WithTimeout(ctx, StepTimeout)
	defer cancel()
	p.mu.Lock()
	held := p.attached[key]
	p.mu.Unlock()
	if held == nil {
		return
	}
	select {
	case held.turn <- struct{}{}:
		defer func() { <-held.turn }()
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		p.leaving = append(p.leaving, departure{key, time.Now().Add(linger)})
		return
	}
	p.mu.Lock()
	gone, hungUp, ago := p.isGone(key, time.Now()), held.hungUp, time.Since(held.left)
	p.mu.Unlock()
	if !gone {
		return
	}
	// A detach of what is not there changes nothing. If it fails the agent stays
	// attached until the node's lease ends; nothing better can be said of it.
	err := p.store.Detach(ctx, key.space, key.id, p.node, hungUp, ago)
	today := c3po.AgentID("")
	if errors.Is(err, c3po.AgentNotFound) {
		// It was renamed, and the store has it here by its new name; or it is retired.
		today, _, err = p.store.Renamed(ctx, key.space, key.id)
	}
	if err != nil {
		p.log.WarnContext(ctx, "agent is not detached", "space", key.space, "agent", key.id, "err", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if today != "" {
		p.leaveAs(agentKey{key.space, today}, held)
	}
	held.stored = false
	if len(held.waits) == 0 {
		delete(p.attached, key)
		p.leases[key.space].agents--
	}
}

// leaveAs lets an agent that has left under a former name leave under the one of
// today, unless it waits under that. It is called with the lock held.
func (p *Presence) leaveAs(key agentKey, left *attachment) {
	if p.attached[key] == nil {
		p.attached[key] = &attachment{turn: make(chan struct{}, 1), left: left.left, hungUp: left.hungUp}
		p.leases[key.space].agents++
	}
	p.leaving = append(p.leaving, departure{key, time.Now()})
}

// End gives all leases back.
func (p *Presence) End(ctx context.Context) {
	p.mu.Lock()
	var spaces []c3po.Space
	for space := range p.leases {
		spaces = append(spaces, space)
	}
	p.mu.Unlock()
	InBatches(spaces, func(space c3po.Space) {
		if err := p.store.EndLease(ctx, space, p.node); err != nil {
			p.log.WarnContext(ctx, "lease is not ended", "space", space, "err", err)
		}
	})
}
