package session

import (
	"context"
	"errors"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
)

// watchTimeout is how long one wait for mail is: as long as one request of a wait.
const watchTimeout = 50 * time.Second

// want makes the agent be there, if it is not.
func (s *Server) want() {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

// attend is the agent's presence: nothing until it is wanted, then a stay until
// c3po is switched off or the session process ends.
func (s *Server) attend(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wanted:
		}
		stay, leave := context.WithCancel(ctx)
		s.mu.Lock()
		s.leave, s.wantedAt = leave, time.Now()
		s.mu.Unlock()
		s.stay(stay)
		leave()
	}
}

// depart ends the stay, if there is one.
func (s *Server) depart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leave != nil {
		s.leave()
	}
	select {
	case <-s.wanted:
	default:
	}
}

// stay keeps the agent registered and its mail known, whatever the coordinator does.
func (s *Server) stay(ctx context.Context) {
	watch := func(ctx context.Context) error {
		s.wake() // for what came while it was not there
		return s.watch(ctx)
	}
	registered := resident.Stay(ctx, s.settle, watch, func(err error, first bool) bool {
		if errors.Is(err, c3po.Superseded) && first {
			s.unsettle(nil)
			return true
		}
		s.unsettle(err)
		s.search()
		s.log.InfoContext(ctx, "not with the coordinator", "err", err)
		return false
	})
	s.unsettle(nil)
	if registered {
		s.goodbye(context.WithoutCancel(ctx))
	}
}

// settle registers the agent and looks what mail it has.
func (s *Server) settle(ctx context.Context) error {
	s.mu.Lock()
	session := s.conversation.id
	s.mu.Unlock()
	if err := s.before(ctx, s.to(), session); err != nil {
		return err
	}
	self, err := s.to().RegisterAgent(ctx, s.profile)
	s.owe(err)
	if err == nil && self.ID == "" {
		// Some programs answer everything with an object.
		err = c3po.Errorf(c3po.Internal, "what answered is not a c3po coordinator").Suggest("Check the address of the coordinator.")
	}
	if err != nil {
		return err
	}
	s.holds(self.ID)
	for _, room := range s.rooms {
		// A member keeps its place. A room that it may not join does not stop it from
		// coming online.
		if _, err := s.to().RoomJoin(ctx, c3po.RoomJoinInput{Room: room}); err != nil {
			s.log.WarnContext(ctx, "cannot join a room", "room", room, "err", err)
		}
	}
	began := time.Now()
	seen, err := s.look(ctx, c3po.PendingInput{})
	if err != nil {
		return err
	}
	s.leases.mu.Lock()
	s.leases.answeredIn(time.Since(began), false)
	s.leases.mu.Unlock()
	place := hook.Place{ID: self.ID, Asked: s.asked, Unseen: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.conversation.place.ID {
	case "": // it begins: what came before wakes it once it is idle
		s.conversation.markArrived(seen.Mail)
	case place.ID:
		s.conversation.markArrived(seen.Mail)
		// A notice from before may have led to a coordinator that was away.
		s.conversation.rearm(s.conversation.ids())
	default:
		s.conversation.memory = s.conversation.memory.Ungreeted() // it is somebody else now, and must hear it
	}
	s.conversation.place = place
	s.keepSoon()
	s.conversation.paused.seq = 0 // numbers from before may be another store's
	s.conversation.replace(seen)
	s.trouble, s.unanswered = nil, false
	close(s.settled)
	s.haveTried()
	s.reportSoon() // what could not be reported while it was away
	return nil
}

// lookAround sees who is online, and who has left mail behind, for a session that is
// about to be told.
func (s *Server) lookAround(ctx context.Context) {
	s.mu.Lock()
	place, alone := s.conversation.place, s.conversation.alone
	s.mu.Unlock()
	if alone || s.to().Lost() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeouts.Refresh)
	defer cancel()
	others, err := s.to().ListAgents(ctx, c3po.ListAgentsInput{Status: c3po.Online, Limit: 100})
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
		first, err := s.to().GetAgentStatus(ctx, c3po.AgentInput{AgentID: string(place.Asked)})
		place.Away = err == nil && first.Status == c3po.Offline
	}
	if self, err := s.to().WhoAmI(ctx, c3po.None{}); err == nil {
		place.Left = self.LeftBehind
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conversation.place.ID == place.ID {
		s.conversation.place = place
	}
}

// haveTried is called with the lock held.
func (s *Server) haveTried() {
	select {
	case <-s.tried:
	default:
		close(s.tried)
	}
}

// unsettle says that the agent is not there, and why if it was to be.
func (s *Server) unsettle(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = why
	select {
	case <-s.settled:
		s.settled, s.patient = make(chan struct{}), s.timeouts.Hook
	default:
	}
	select {
	case <-s.tried:
		s.tried = make(chan struct{})
	default:
	}
	if why != nil {
		s.haveTried()
	}
}

// awaitSettled waits until the agent is there, or it is known that it cannot be,
// but not for long: a client waits for its hooks. It says whether it is.
func (s *Server) awaitSettled(ctx context.Context, most time.Duration) bool {
	s.mu.Lock()
	tried := s.tried
	s.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-tried:
	case <-timer.C:
	case <-ctx.Done():
	}
	return s.isSettled()
}

func (s *Server) isSettled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.settled:
		return true
	default:
		return false
	}
}

// hookSettled is awaitSettled for hooks, which together wait no longer than one
// may: a coordinator that does not answer delays a session once.
func (s *Server) hookSettled(ctx context.Context) bool {
	s.mu.Lock()
	most := s.patient
	s.mu.Unlock()
	began := time.Now()
	settled := s.awaitSettled(ctx, most)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.patient = max(0, s.patient-time.Since(began))
	return settled
}

// watch holds one wait at the coordinator, by which others see the agent as
// attached, and takes in what arrives. It always ends with an error. It asks
// again after watchTimeout, with what is known by then of a pause.
func (s *Server) watch(ctx context.Context) error {
	for {
		// A turn that is interrupted ends without a word: look again when it must have.
		waiting, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		after, why := s.conversation.seq, s.conversation.paused.why
		s.rewait, s.state = cancel, s.conversation.state(s.off(), time.Now())
		in := c3po.PendingInput{Timeout: int(watchTimeout / time.Second), After: &after, Paused: &why, State: s.state}
		if s.plain {
			in.State, in.Asleep = "", s.state != c3po.SessionIdle && s.state != c3po.SessionWorking
		}
		again := time.AfterFunc(time.Until(s.conversation.activity.BelievedUntil()), s.slept)
		s.mu.Unlock()
		seen, err := s.look(waiting, in)
		again.Stop()
		if errors.Is(err, c3po.InvalidRequest) && !s.plain {
			s.plain = true // its coordinator is older than states
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
		s.mu.Lock()
		s.conversation.add(seen)
		s.unanswered = false
		s.mu.Unlock()
		s.wake()
	}
}

// slept replaces the wait if it misreports whether the session can be woken.
func (s *Server) slept() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is := s.conversation.state(s.off(), time.Now()); s.rewait != nil && s.state != is {
		s.rewait()
	}
}

// look reads unacked mail, with the texts that may come with a wake.
func (s *Server) look(ctx context.Context, in c3po.PendingInput) (resident.View, error) {
	return resident.Look(ctx, s.to(), in, resident.MaxLetters, func(m c3po.Message) bool { _, ok := short(m); return ok })
}

// goodbye ends the session of the agent, which keeps its id and its mail.
func (s *Server) goodbye(ctx context.Context) {
	s.readTranscript() // a client that nobody sits at ends a moment after its turn has failed
	s.mu.Lock()
	most := s.timeouts.Goodbye
	if s.silent {
		most = s.timeouts.HurriedGoodbye
	}
	s.conversation.moves()                    // what has ended is not stalled
	s.conversation.leave()                    // nobody answers any more
	s.conversation.meter.releases(time.Now()) // what was written down since it last looked counts too
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	s.withdrawAll(ctx)
	s.sendReport(ctx)
	to := s.to()
	if s.closing != nil && s.closing() {
		to = to.ForClosed()
	}
	if resident.Leave(ctx, to, s.log) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.owes = false
	}
}

// owe takes in how an attempt to register ended. An attempt with an unknown outcome may
// still be carried out.
func (s *Server) owe(err error) {
	if err == nil || errors.Is(err, c3po.UnknownOutcome) || errors.Is(err, c3po.Timeout) || errors.Is(err, c3po.RedisUnavailable) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.owes = true
	}
}
