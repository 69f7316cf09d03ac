package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	// bindingSessions is how many sessions of one run are told apart.
	bindingSessions = 8
)

// A bindingKey is what a caller says of itself.
type bindingKey struct {
	space c3po.Space
	want  c3po.AgentID
	run   string
}

// A binding is the id a caller was given. The store has the last word: a run
// that was ousted elsewhere is refused there, whatever is remembered here.
type binding struct {
	id     c3po.AgentID
	epoch  int64
	notice string
	queues []c3po.AgentID // the mailboxes of its queues
	cause  cause          // what it was given last
	beat   int            // the interval it declared, in seconds
	noted  time.Time      // when the store last heard that it is alive
	used   time.Time
	// sessions the store knows of. A run may use several at once; each is
	// registered by its first call.
	sessions []string
}

// bindings spare the store a write for every call of a caller it knows.
type bindings struct {
	seenEvery time.Duration
	mu        sync.Mutex
	known     map[bindingKey]*binding
}

func newBindings(seenEvery time.Duration) *bindings {
	return &bindings{seenEvery: seenEvery, known: map[bindingKey]*binding{}}
}

// find also says whether it is time to note that the caller was seen.
func (b *bindings) find(key bindingKey, session string) (found binding, note, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[key]
	if !ok || !slices.Contains(known.sessions, session) {
		return binding{}, false, false
	}
	now := time.Now()
	known.used = now
	every := b.seenEvery
	if known.beat > 0 {
		every = min(every, time.Duration(known.beat)*time.Second)
	}
	if now.Sub(known.noted) >= every {
		known.noted, note = now, true
	}
	return *known, note, true
}

func (b *bindings) put(key bindingKey, session string, given binding) {
	given.noted = time.Now()
	given.used = given.noted
	b.mu.Lock()
	defer b.mu.Unlock()
	given.sessions = []string{session}
	if known, ok := b.known[key]; ok && known.id == given.id {
		for _, s := range known.sessions {
			if s != session && len(given.sessions) < bindingSessions {
				given.sessions = append(given.sessions, s)
			}
		}
	}
	b.known[key] = &given
}

func (b *bindings) setQueues(key bindingKey, queues []c3po.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		known.queues = queues
	}
}

func (b *bindings) setCause(key bindingKey, given cause) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[key]; ok {
		known.cause = given
	}
}

// takeCause gives the chain the caller reacts to, once; empty if there is none.
func (b *bindings) takeCause(key bindingKey) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.known[key]
	if !ok {
		return ""
	}
	given := known.cause
	known.cause = cause{}
	if given.at.IsZero() || time.Since(given.at) >= reaction {
		return ""
	}
	return given.chain
}

func (b *bindings) drop(key bindingKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, key)
}

// dropAgent forgets every caller that acts as an agent.
func (b *bindings) dropAgent(space c3po.Space, id c3po.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, known := range b.known {
		if key.space == space && known.id == id {
			delete(b.known, key)
		}
	}
}

// unnote has the next call of an agent noted at once.
func (b *bindings) unnote(space c3po.Space, id c3po.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, known := range b.known {
		if key.space == space && known.id == id {
			known.noted = time.Time{}
		}
	}
}

func (b *bindings) dropSpace(space c3po.Space) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.known {
		if key.space == space {
			delete(b.known, key)
		}
	}
}

func (b *bindings) run(ctx context.Context) {
	tick := time.NewTicker(node.CallerIdle / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			b.sweep(now)
		}
	}
}

func (b *bindings) sweep(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, known := range b.known {
		if now.Sub(known.used) >= node.CallerIdle {
			delete(b.known, key)
		}
	}
}

// enter gives the caller its id, registering it if this is its first call.
func (a *Actor) enter(ctx context.Context) error {
	if a.caller.Role == c3po.RoleHuman || a.caller.Role == c3po.RoleAdmin && a.caller.ID == c3po.Human {
		// A person is not registered: the mailbox is always there.
		a.actAs(binding{id: c3po.Human})
		return nil
	}
	if err := a.requireName(ctx); err != nil {
		return err
	}
	// What is remembered may be what another token was given.
	if known, note, ok := a.hub.bindings.find(a.key(), a.caller.Session); ok && a.caller.MayBe(known.id) {
		a.actAs(known)
		a.hub.lastCalls.Record(a.caller.Space, a.id, known.beat, note)
		if note {
			a.hub.notes.AddSeen(a.caller.Space, a.id)
		}
		if !note || a.refreshQueues(ctx, known) {
			return nil
		}
	}
	_, err := a.register(ctx, false, store.Profile{Client: a.caller.Client})
	return err
}

// enterIfNamed is for calls that work for anybody: whoever gives an id is
// registered by them, and a full store does not keep anybody from reading.
func (a *Actor) enterIfNamed(ctx context.Context) error {
	if a.caller.ID == "" || a.caller.ID.Reserved() && a.caller.Person() {
		return nil
	}
	if err := a.enter(ctx); err != nil && !errors.Is(err, c3po.StoreFull) {
		return err
	}
	return nil
}

func (a *Actor) requireName(ctx context.Context) error {
	if a.caller.ID == "" {
		return c3po.Errorf(c3po.InvalidRequest, "Missing X-Agent-ID header").
			Suggest("Say who you are: set the X-Agent-ID header, or C3PO_AGENT_ID for our own clients.")
	}
	if a.caller.ID.Reserved() {
		return c3po.Errorf(c3po.InvalidRequest, "'%s' is a reserved name: no agent may have it", a.caller.ID).
			Suggest("Choose another agent id.")
	}
	return a.confine(ctx)
}

func (a *Actor) key() bindingKey {
	return bindingKey{a.caller.Space, a.caller.ID, a.caller.Run}
}

func (a *Actor) actAs(known binding) {
	a.id, a.epoch, a.notice = known.id, known.epoch, known.notice
	a.acting.Store(&known)
}

// refusePosing refuses a new agent a name that reads like a reserved one. Who has had
// it since before that was refused keeps it, and its mail.
func (a *Actor) refusePosing(ctx context.Context) error {
	if !a.caller.ID.Poses() {
		return nil
	}
	records, err := a.hub.store.Agents(ctx, a.caller.Space, []c3po.AgentID{a.caller.ID})
	if err != nil {
		return a.dropIfSuperseded(err)
	}
	if len(records) > 0 {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "'%s' reads like a reserved name: no agent may have it", a.caller.ID).
		Suggest("Choose another agent id, without the words human and person.")
}

// register asks the store for an id and remembers the answer.
func (a *Actor) register(ctx context.Context, explicit bool, profile store.Profile) (store.Registration, error) {
	if err := a.refusePosing(ctx); err != nil {
		return store.Registration{}, err
	}
	settle, err := a.payForAgent(ctx)
	if err != nil {
		return store.Registration{}, err
	}
	registration, err := a.hub.store.Register(ctx, a.caller.Space, store.RegisterStep{
		Want: a.caller.ID, Run: a.caller.Run, Session: a.caller.Session, Epoch: a.caller.Epoch,
		Explicit: explicit, Profile: profile, Agents: a.caller.Agents,
	})
	settle(err == nil && registration.Record.RegisteredAt.Equal(registration.Now))
	if errors.Is(err, c3po.StoreFull) && !explicit {
		return a.enterFullStore(ctx, err)
	}
	if err != nil {
		return store.Registration{}, a.dropIfSuperseded(err)
	}
	given := a.bindTo(registration.Record)
	a.hub.presence.Moved(a.caller.Space, a.id)
	a.hub.lastCalls.Record(a.caller.Space, a.id, given.beat, true)
	a.hub.bindings.put(a.key(), a.caller.Session, given)
	a.hub.marks.Touch(a.caller.Space, 0)
	a.hub.entered(a.caller.Space, a.id, a.caller.Run)
	a.hub.watchDeclared(a.caller.Space, registration.Record)
	registration.Record = a.hub.store.Correct(a.caller.Space, registration.Record)
	a.tell(ctx, c3po.EventRegistered, a.id, "")
	if registration.Owed > 0 {
		a.welcomeBack(ctx, &registration)
	}
	return registration, nil
}

// welcomeBack gives an agent that returns what was taken from its inbox when it
// was removed. It never fails: what is not delivered now the reaper delivers.
func (a *Actor) welcomeBack(ctx context.Context, registration *store.Registration) {
	ctx, cancel := context.WithTimeout(ctx, owedLettersTimeout)
	defer cancel()
	if err := a.hub.bringBack(ctx, a.caller.Space, a.id); err != nil {
		a.hub.log.WarnContext(ctx, "letters are not back yet", "space", a.caller.Space, "agent", a.id, "err", err)
	}
	if unread, err := a.hub.store.InboxSize(ctx, a.caller.Space, a.id); err == nil {
		registration.Unread = unread
	}
}

// enterFullStore lets the run that holds an id in although nothing at all can
// be written, as when the disk of Redis is full: its mail must be readable. It is
// not remembered, so that the next call tries to register again.
func (a *Actor) enterFullStore(ctx context.Context, full error) (store.Registration, error) {
	held, err := a.findOwnAgent(ctx)
	if err != nil {
		return store.Registration{}, err
	}
	if held == nil {
		return store.Registration{}, full
	}
	a.bindTo(*held)
	return store.Registration{Record: *held}, nil
}

func (a *Actor) bindTo(record store.Record) binding {
	given := binding{id: record.ID, epoch: record.Epoch, queues: c3po.QueuesOf(record.Profile.Capabilities), beat: record.Profile.Heartbeat}
	if record.ID != a.caller.ID {
		given.notice = fmt.Sprintf("'%s' is the name of another session; you are '%s'", a.caller.ID, record.ID)
	}
	a.actAs(given)
	return given
}

// findOwnAgent finds the agent the caller is, without registering it: the one among
// its id and its numbers that its run holds, else its id itself if either side
// of it is anonymous. Nil if there is none.
func (a *Actor) findOwnAgent(ctx context.Context) (*store.Record, error) {
	ids := []c3po.AgentID{a.caller.ID}
	if a.caller.Run != "" {
		ids = store.RegisterStep{Want: a.caller.ID, Agents: a.caller.Agents}.Candidates(false)
	}
	records, err := a.hub.store.Agents(ctx, a.caller.Space, ids)
	if err != nil {
		return nil, err
	}
	for i, record := range records {
		if record.Run == a.caller.Run {
			return &records[i], nil
		}
	}
	if len(records) > 0 && records[0].ID == a.caller.ID && (a.caller.Run == "" || records[0].Run == "") {
		return &records[0], nil
	}
	return nil, nil
}

// dropIfSuperseded forgets the caller's binding if err says that it lost its id. Every
// error of the store passes here on its way to the caller.
func (a *Actor) dropIfSuperseded(err error) error {
	if errors.Is(err, c3po.Superseded) {
		a.hub.bindings.drop(a.key())
	}
	return err
}
