package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	// maxInboxLetters is how much of an inbox is looked at: nobody is told exact counts
	// beyond it.
	maxInboxLetters = 1000
	// watchTimeout is how long one wait for mail is: as long as one request of a wait.
	watchTimeout = 50 * time.Second
)

// want makes the agent be there, if it is not.
func (b *Bridge) want() {
	select {
	case b.wanted <- struct{}{}:
	default:
	}
}

// attend is the agent's presence: nothing until it is wanted, then a stay until
// c3po is switched off or the bridge ends.
func (b *Bridge) attend(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wanted:
		}
		stay, leave := context.WithCancel(ctx)
		b.mu.Lock()
		b.leave, b.wantedAt = leave, time.Now()
		b.mu.Unlock()
		b.stay(stay)
		leave()
	}
}

// depart ends the stay, if there is one.
func (b *Bridge) depart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.leave != nil {
		b.leave()
	}
	select {
	case <-b.wanted:
	default:
	}
}

// stay keeps the agent registered and its mail known, whatever the coordinator does.
func (b *Bridge) stay(ctx context.Context) {
	registered := false
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		err := b.settle(ctx)
		if err == nil {
			registered, pause = true, firstPause
			b.wake() // for what came while it was not there
			err = b.watch(ctx)
		}
		if ctx.Err() != nil {
			break
		}
		if errors.Is(err, c3po.Superseded) && pause == firstPause {
			b.unsettle(nil)
			continue
		}
		b.unsettle(err)
		b.search()
		b.log.InfoContext(ctx, "not with the coordinator", "err", err)
		attempt.Sleep(ctx, attempt.Jitter(pause))
	}
	b.unsettle(nil)
	if registered {
		b.goodbye(context.WithoutCancel(ctx))
	}
}

// settle registers the agent and looks what mail it has.
func (b *Bridge) settle(ctx context.Context) error {
	if err := b.before(ctx, b.to()); err != nil {
		return err
	}
	self, err := b.to().RegisterAgent(ctx, b.profile)
	b.owe(err)
	if err == nil && self.ID == "" {
		// Some programs answer everything with an object.
		err = c3po.Errorf(c3po.Internal, "what answered is not a c3po coordinator").Suggest("Check the address of the coordinator.")
	}
	if err != nil {
		return err
	}
	b.holds(self.ID)
	for _, room := range b.rooms {
		// Who is in it already keeps its place. A room that it may not join, or no
		// longer, is no reason not to be there.
		if _, err := b.to().RoomJoin(ctx, c3po.RoomJoinInput{Room: room}); err != nil {
			b.log.WarnContext(ctx, "cannot join a room", "room", room, "err", err)
		}
	}
	seen, err := b.look(ctx, c3po.PendingInput{})
	if err != nil {
		return err
	}
	place := hook.Place{ID: self.ID, Asked: b.asked, Unseen: true}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.session.place.ID {
	case "": // it begins: what came before wakes it once it is idle
		b.session.missed(seen.mail)
	case place.ID:
		b.session.missed(seen.mail)
		// A notice from before may have led to a coordinator that was away.
		b.session.rearm(b.session.ids())
	default:
		b.session.memory = b.session.memory.Ungreeted() // it is somebody else now, and must hear it
	}
	b.session.place = place
	b.session.paused.seq = 0 // numbers from before may be another store's
	b.session.replace(seen)
	b.trouble, b.unanswered = nil, false
	close(b.settled)
	b.haveTried()
	b.reportSoon() // what could not be reported while it was away
	return nil
}

// lookAround sees who is online, and who has left mail behind, for a session that is
// about to be told.
func (b *Bridge) lookAround(ctx context.Context) {
	b.mu.Lock()
	place, alone := b.session.place, b.session.alone
	b.mu.Unlock()
	if alone || b.to().Lost() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	others, err := b.to().ListAgents(ctx, c3po.ListAgentsInput{Status: c3po.Online, Limit: 100})
	place.Online, place.More, place.Unseen = nil, 0, err != nil
	for _, other := range others.Agents {
		switch {
		case other.ID == place.ID:
		case len(place.Online) < hook.MaxNamedAgents:
			place.Online = append(place.Online, other.ID)
		default:
			place.More++
		}
	}
	if place.Numbered() {
		first, err := b.to().GetAgentStatus(ctx, c3po.AgentInput{AgentID: string(place.Asked)})
		place.Away = err == nil && first.Status == c3po.Offline
	}
	if self, err := b.to().WhoAmI(ctx, c3po.None{}); err == nil {
		place.Left = self.LeftBehind
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session.place.ID == place.ID {
		b.session.place = place
	}
}

// haveTried is called with the lock held.
func (b *Bridge) haveTried() {
	select {
	case <-b.tried:
	default:
		close(b.tried)
	}
}

// unsettle says that the agent is not there, and why if it was to be.
func (b *Bridge) unsettle(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trouble = why
	select {
	case <-b.settled:
		b.settled, b.patient = make(chan struct{}), hookTimeout
	default:
	}
	select {
	case <-b.tried:
		b.tried = make(chan struct{})
	default:
	}
	if why != nil {
		b.haveTried()
	}
}

// awaitSettled waits until the agent is there, or it is known that it cannot be,
// but not for long: a client waits for its hooks. It says whether it is.
func (b *Bridge) awaitSettled(ctx context.Context, most time.Duration) bool {
	b.mu.Lock()
	tried := b.tried
	b.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-tried:
	case <-timer.C:
	case <-ctx.Done():
	}
	return b.isSettled()
}

func (b *Bridge) isSettled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.settled:
		return true
	default:
		return false
	}
}

// hookSettled is awaitSettled for hooks, which together wait no longer than one
// may: a coordinator that does not answer delays a session once.
func (b *Bridge) hookSettled(ctx context.Context) bool {
	b.mu.Lock()
	most := b.patient
	b.mu.Unlock()
	began := time.Now()
	settled := b.awaitSettled(ctx, most)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.patient = max(0, b.patient-time.Since(began))
	return settled
}

// watch holds one wait at the coordinator, by which others see the agent as
// attached, and takes in what arrives. It always ends with an error. It asks
// again after watchTimeout, with what is known by then of a pause.
func (b *Bridge) watch(ctx context.Context) error {
	for {
		// A turn that is interrupted ends without a word: look again when it must have.
		waiting, cancel := context.WithCancel(ctx)
		b.mu.Lock()
		after, why := b.session.seq, b.session.paused.why
		b.rewait, b.state = cancel, b.session.state(b.off(), time.Now())
		in := c3po.PendingInput{Timeout: int(watchTimeout / time.Second), After: &after, Paused: &why, State: b.state}
		if b.plain {
			in.State, in.Asleep = "", b.state != c3po.SessionIdle && b.state != c3po.SessionWorking
		}
		again := time.AfterFunc(time.Until(b.session.activity.BelievedUntil()), b.slept)
		b.mu.Unlock()
		seen, err := b.look(waiting, in)
		again.Stop()
		if errors.Is(err, c3po.InvalidRequest) && !b.plain {
			b.plain = true // its coordinator is older than states
			continue
		}
		changed := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		if changed && err != nil {
			continue
		}
		if err != nil {
			return err
		}
		b.mu.Lock()
		b.session.add(seen)
		b.unanswered = false
		b.mu.Unlock()
		b.wake()
	}
}

// slept makes the wait another if it says of the session what is no longer so:
// that it can be woken, or that it cannot.
func (b *Bridge) slept() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if is := b.session.state(b.off(), time.Now()); b.rewait != nil && b.state != is {
		b.rewait()
	}
}

// look reads unacked mail without its counting as seen.
func (b *Bridge) look(ctx context.Context, in c3po.PendingInput) (view, error) {
	var seen view
	if in.Paused == nil {
		in.Paused = new(string) // any word makes the coordinator say what it knows
	}
	for {
		page, err := b.to().Pending(ctx, in)
		if err != nil {
			return view{}, err
		}
		if seen.seq == 0 {
			// Of the first page: what comes later is found again.
			seen.seq, seen.posts, seen.paused = page.Seq, page.RoomUnread, page.Paused
		}
		for _, m := range page.Messages {
			seen.mail = append(seen.mail, hook.LetterOf(m))
			if _, ok := short(m); ok {
				seen.texts = append(seen.texts, m)
			}
		}
		if page.Next == "" || len(seen.mail) >= maxInboxLetters {
			return seen, nil
		}
		in.Cursor, in.Timeout = page.Next, 0
	}
}

// goodbye ends the session of the agent, which keeps its id and its mail.
func (b *Bridge) goodbye(ctx context.Context) {
	b.mu.Lock()
	most := goodbyeTimeout
	if b.silent {
		most = hurriedGoodbyeTimeout
	}
	b.session.leave() // nobody answers any more
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	b.sendReport(ctx)
	if _, err := b.to().Unregister(ctx, c3po.None{}); err != nil {
		b.log.InfoContext(ctx, "cannot say goodbye", "err", err)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owes = false
}

// owe takes in how an attempt to register has ended. One of which nobody knows may
// still be carried out.
func (b *Bridge) owe(err error) {
	if err == nil || errors.Is(err, c3po.UnknownOutcome) || errors.Is(err, c3po.Timeout) || errors.Is(err, c3po.RedisUnavailable) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.owes = true
	}
}
