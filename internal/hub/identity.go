package hub

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// An identity is who calls: the caller as its token shows it, and the agent it acts as
// once it has entered.
type identity struct {
	spaceHub
	caller c3po.Caller
	// acting is read by whatever writes the answer, perhaps before the call is over.
	acting atomic.Pointer[binding]
	id     c3po.AgentID
	epoch  int64
	notice string // the id is not the one that was asked for, in words
	place  string // the node the store has the caller at, as far as a wait has seen
	// rejoined is how often the caller was renamed while it called, and entered anew.
	rejoined int
}

// enter gives the caller its id, registering it if this is its first call.
func (me *identity) enter(ctx context.Context) error {
	if me.caller.Role == c3po.RoleHuman || me.caller.Role == c3po.RoleAdmin && me.caller.ID == c3po.Human {
		// A person is not registered: the mailbox is always there.
		me.actAs(binding{id: c3po.Human})
		return nil
	}
	if me.caller.Closed {
		return me.enterForClosed(ctx)
	}
	if err := me.requireName(ctx); err != nil {
		return err
	}
	// What is remembered may be what another token was given.
	if known, note, ok := me.hub.bindings.find(me.key(), me.caller.Session); ok && me.caller.MayBe(known.id) {
		me.actAs(known)
		me.hub.lastCalls.Record(me.space, me.id, known.beat, note)
		if note {
			me.hub.notes.AddSeen(me.space, me.id)
		}
		if !note || me.refreshQueues(ctx, known) {
			return nil
		}
	}
	_, err := me.register(ctx, false, store.Profile{Client: me.caller.Client})
	return err
}

// enterIfNamed is for calls that also work without an id: a caller that gives one is
// registered, and a full store keeps nobody from reading.
func (me *identity) enterIfNamed(ctx context.Context) error {
	if me.caller.ID == "" || me.caller.ID.Reserved() && me.caller.Person() {
		return nil
	}
	if err := me.enter(ctx); err != nil && !errors.Is(err, c3po.StoreFull) {
		return err
	}
	return nil
}

func (me *identity) requireName(ctx context.Context) error {
	if me.caller.ID == "" {
		return c3po.Errorf(c3po.InvalidRequest, "Missing X-Agent-ID header").
			Suggest("Say who you are: set the X-Agent-ID header, or C3PO_AGENT_ID for our own clients.")
	}
	if me.caller.ID.Reserved() {
		return c3po.Errorf(c3po.InvalidRequest, "'%s' is a reserved name: no agent may have it", me.caller.ID).
			Suggest("Choose another agent id.")
	}
	return me.confine(ctx)
}

func (me *identity) key() bindingKey {
	return bindingKey{me.space, me.caller.ID, me.caller.Run}
}

func (me *identity) actAs(known binding) {
	me.id, me.epoch, me.notice = known.id, known.epoch, known.notice
	me.acting.Store(&known)
}

// refusePosing refuses a new agent a name that reads like a reserved one. An agent that
// already had such a name keeps it, and its mail.
func (me *identity) refusePosing(ctx context.Context) error {
	if !me.caller.ID.Poses() {
		return nil
	}
	records, err := me.hub.store.Agents(ctx, me.space, []c3po.AgentID{me.caller.ID})
	if err != nil {
		return me.dropIfSuperseded(err)
	}
	if len(records) > 0 {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "'%s' reads like a reserved name: no agent may have it", me.caller.ID).
		Suggest("Choose another agent id, without the words human and person.")
}

// register asks the store for an id and remembers the answer.
func (me *identity) register(ctx context.Context, explicit bool, profile store.Profile) (store.Registration, error) {
	if err := me.refusePosing(ctx); err != nil {
		return store.Registration{}, err
	}
	settle, err := me.payForAgent(ctx)
	if err != nil {
		return store.Registration{}, err
	}
	registration, err := me.hub.store.Register(ctx, me.space, store.RegisterStep{
		Want: me.caller.ID, Run: me.caller.Run, Sighted: me.hub.sees(me.caller.Run), Session: me.caller.Session, Epoch: me.caller.Epoch,
		Explicit: explicit, Profile: profile, Agents: me.caller.Agents,
	})
	settle(err == nil && registration.Record.RegisteredAt.Equal(registration.Now))
	if errors.Is(err, c3po.StoreFull) && !explicit {
		return me.enterFullStore(ctx, err)
	}
	if err != nil {
		return store.Registration{}, me.dropIfSuperseded(err)
	}
	given := me.bindTo(registration.Record)
	me.hub.presence.Moved(me.space, me.id)
	me.hub.lastCalls.Record(me.space, me.id, given.beat, true)
	me.hub.bindings.put(me.key(), me.caller.Session, given)
	me.hub.marks.Touch(me.space, 0)
	me.hub.entered(me.space, me.id, me.caller.Run)
	me.hub.watchDeclared(me.space, registration.Record)
	registration.Record = me.hub.store.Correct(me.space, registration.Record)
	me.tell(ctx, c3po.EventRegistered, me.id, "")
	if registration.Owed > 0 {
		me.welcomeBack(ctx, &registration)
	}
	return registration, nil
}

// welcomeBack gives an agent that returns what was taken from its inbox when it
// was removed. It never fails: what is not delivered now the reaper delivers.
func (me *identity) welcomeBack(ctx context.Context, registration *store.Registration) {
	ctx, cancel := context.WithTimeout(ctx, owedLettersTimeout)
	defer cancel()
	if err := me.hub.bringBack(ctx, me.space, me.id); err != nil {
		me.hub.log.WarnContext(ctx, "letters are not back yet", "space", me.space, "agent", me.id, "err", err)
	}
	if unread, err := me.hub.store.InboxSize(ctx, me.space, me.id); err == nil {
		registration.Unread = unread
	}
}

// enterFullStore lets the run that holds an id in although nothing at all can
// be written, as when the disk of Redis is full: its mail must be readable. It is
// not remembered, so that the next call tries to register again.
func (me *identity) enterFullStore(ctx context.Context, full error) (store.Registration, error) {
	held, err := me.findOwnAgent(ctx)
	if err != nil {
		return store.Registration{}, err
	}
	if held == nil {
		return store.Registration{}, full
	}
	me.bindTo(*held)
	return store.Registration{Record: *held}, nil
}

func (me *identity) bindTo(record store.Record) binding {
	given := binding{id: record.ID, epoch: record.Epoch, queues: c3po.QueuesOf(record.Profile.Capabilities), beat: record.Profile.Heartbeat}
	if record.ID != me.caller.ID {
		given.notice = fmt.Sprintf("'%s' is the name of another session; you are '%s'", me.caller.ID, record.ID)
	}
	me.actAs(given)
	return given
}

// findOwnAgent finds the agent the caller is, without registering it: the id or numbered
// id that its run holds, else the id itself if the caller or the agent has no run. Nil if
// there is no such agent.
func (me *identity) findOwnAgent(ctx context.Context) (*store.Record, error) {
	ids := []c3po.AgentID{me.caller.ID}
	if me.caller.Run != "" {
		ids = store.RegisterStep{Want: me.caller.ID, Agents: me.caller.Agents}.Candidates(false)
	}
	records, err := me.hub.store.Agents(ctx, me.space, ids)
	if err != nil {
		return nil, err
	}
	for i, record := range records {
		if record.Run == me.caller.Run {
			return &records[i], nil
		}
	}
	if len(records) > 0 && records[0].ID == me.caller.ID && (me.caller.Run == "" || records[0].Run == "") {
		return &records[0], nil
	}
	return nil, nil
}

// dropIfSuperseded forgets the caller's binding if err says that it lost its id. Every
// error of the store passes here on its way to the caller.
func (me *identity) dropIfSuperseded(err error) error {
	if errors.Is(err, c3po.Superseded) {
		me.hub.bindings.drop(me.key())
	}
	return err
}
