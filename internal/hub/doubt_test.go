package hub_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
)

// Whatever has happened since, the same request with the same key finds what is stored.
func TestARepeatFindsTheStoredMessageWhateverHasChangedSince(t *testing.T) {
	for name, c := range map[string]struct {
		limits  func(*c3po.Limits)
		target  string
		ifAway  string
		changes func(*testing.T, *testHub)
	}{
		"the only member left the queue": {target: "role:pay", changes: func(_ *testing.T, h *testHub) {
			h.join("payer", "nothing")
		}},
		"every member of the queue is away": {target: "role:pay", ifAway: "fail", changes: func(*testing.T, *testHub) {
			pass(time.Hour)
		}},
		"the recipient is away": {target: "payer", ifAway: "fail", changes: func(*testing.T, *testHub) {
			pass(time.Hour)
		}},
		"a second agent has the bare name": {target: "joe", changes: func(_ *testing.T, h *testHub) {
			h.enter("h2/joe")
		}},
		"an agent has the bare name as its whole id": {target: "joe", changes: func(_ *testing.T, h *testHub) {
			h.enter("joe")
		}},
		"another run has the sender's name": {target: "payer", changes: func(t *testing.T, h *testHub) {
			must(h.asRun("ann", "r2").RegisterAgent(t.Context(), c3po.RegisterInput{}))(t)
		}},
		"the sender has sent all it may in a minute": {limits: func(l *c3po.Limits) { l.SendsPerMinute = 1 }, target: "payer",
			changes: func(*testing.T, *testHub) {}},
		"the inbox is full": {limits: func(l *c3po.Limits) { l.InboxMessages, l.SenderShare = 1, 1 }, target: "payer",
			changes: func(*testing.T, *testHub) {}},
		"its text was sent too often": {limits: func(l *c3po.Limits) { l.SameTexts = 1 }, target: "payer",
			changes: func(*testing.T, *testHub) {}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h := build(t, func(l *c3po.Limits) {
					if c.limits != nil {
						c.limits(l)
					}
				})
				h.join("payer", "pay")
				h.enter("h1/joe")
				must(h.asRun("ann", "r1").RegisterAgent(t.Context(), c3po.RegisterInput{}))(t)
				in := c3po.SendInput{Target: c.target, Message: "pay the invoice", ClientKey: "k", IfAway: c.ifAway}
				first := must(h.asRun("ann", "r1").SendMessage(t.Context(), in))(t)
				c.changes(t, h)
				again, err := h.asRun("ann", "r1").SendMessage(t.Context(), in)
				if err != nil {
					t.Fatalf("the message is stored, and its repeat is answered: %v", err)
				}
				same(t, "id", again.ID, first.ID)
			})
		})
	}
}

func TestARefusalSaysWhenNothingIsStoredUnderItsKey(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.SendsPerMinute = 1 })
		h.enter("ann")
		h.enter("bob")
		send := func(in c3po.SendInput) *c3po.Error {
			_, err := h.as("ann").SendMessage(t.Context(), in)
			return c3po.AsError(err)
		}
		for what, in := range map[string]c3po.SendInput{
			"no agent":  {Target: "nobody", Message: "hi", ClientKey: "k"},
			"no member": {Target: "role:none", Message: "hi", ClientKey: "k"},
		} {
			if e := send(in); e == nil || !e.NotStored {
				t.Errorf("%s: %+v", what, e)
			}
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "one", ClientKey: "one"}); e != nil {
			t.Fatal(e)
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "two", ClientKey: "two"}); e == nil || e.Code != c3po.RateLimited || !e.NotStored {
			t.Errorf("over the limit: %+v", e)
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "else", ClientKey: "one"}); e == nil || e.Code != c3po.KeyConflict || e.NotStored {
			t.Errorf("a key that holds another message: %+v", e)
		}
		if e := send(c3po.SendInput{Target: "bob", Message: "two"}); e == nil || e.NotStored {
			t.Errorf("without a key: %+v", e)
		}
		if e := send(c3po.SendInput{Target: "bob", ClientKey: "three"}); e == nil || e.NotStored {
			t.Errorf("refused before anybody looked: %+v", e)
		}
		_, err := h.as("ann").RoomPost(t.Context(), c3po.RoomPostInput{Room: "hall", Message: "hi", ClientKey: "post"})
		if e := c3po.AsError(err); e == nil || !e.NotStored {
			t.Errorf("a post: %+v", e)
		}
	})
}

// A refusing store refuses one step without having looked at its key.
type refusing struct {
	store.Store
	step string
	err  error
}

func (r *refusing) refuses(step string) error {
	if step == r.step {
		return r.err
	}
	return nil
}

func (r *refusing) Register(ctx context.Context, space c3po.Space, step store.RegisterStep) (store.Registration, error) {
	if err := r.refuses("register"); err != nil {
		return store.Registration{}, err
	}
	return r.Store.Register(ctx, space, step)
}

func (r *refusing) Durability(ctx context.Context) (c3po.Durability, error) {
	if err := r.refuses("durability"); err != nil {
		return "", err
	}
	return r.Store.Durability(ctx)
}

func (r *refusing) Members(ctx context.Context, space c3po.Space, queue c3po.AgentID, limit int) ([]c3po.AgentID, error) {
	if err := r.refuses("members"); err != nil {
		return nil, err
	}
	return r.Store.Members(ctx, space, queue, limit)
}

func (r *refusing) Agents(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]store.Record, error) {
	if err := r.refuses("agents"); err != nil {
		return nil, err
	}
	return r.Store.Agents(ctx, space, ids)
}

func (r *refusing) Send(ctx context.Context, space c3po.Space, step store.SendStep) (store.Stored, error) {
	if err := r.refuses("send"); err != nil {
		return store.Stored{}, err
	}
	return r.Store.Send(ctx, space, step)
}

func (r *refusing) Reply(ctx context.Context, space c3po.Space, step store.ReplyStep) (store.Stored, error) {
	if err := r.refuses("reply"); err != nil {
		return store.Stored{}, err
	}
	return r.Store.Reply(ctx, space, step)
}

func (r *refusing) Post(ctx context.Context, space c3po.Space, step store.PostStep) (store.Posted, error) {
	if err := r.refuses("post"); err != nil {
		return store.Posted{}, err
	}
	return r.Store.Post(ctx, space, step)
}

var denial = regexp.MustCompile(`(?i)nothing (was|is|has been|will be) (done|sent|stored|said|changed)`)

// Whatever a repeat is refused with, by whom and in which step: the message is stored, and
// the refusal must not be taken for a proof that it is not.
func TestNoRefusalOfARepeatDeniesWhatIsStored(t *testing.T) {
	always := []c3po.Code{c3po.RedisUnavailable, c3po.Internal}
	codes := map[string][]c3po.Code{
		"durability": always, "members": always, "agents": always,
		"register": append(always, c3po.InvalidRequest, c3po.Unauthorized, c3po.Forbidden, c3po.Superseded, c3po.StoreFull, c3po.UnknownOutcome, c3po.BudgetSpent),
		"send":     append(always, c3po.StoreFull, c3po.UnknownOutcome, c3po.KeyConflict),
		"reply":    append(always, c3po.StoreFull, c3po.UnknownOutcome, c3po.KeyConflict),
		"post":     append(always, c3po.StoreFull, c3po.UnknownOutcome, c3po.KeyConflict),
		"proof":    append(always, c3po.ProofRequired, c3po.RateLimited),
	}
	calls := map[string]func(*testing.T, *testHub, c3po.MessageID) error{
		"message": func(t *testing.T, h *testHub, _ c3po.MessageID) error {
			_, err := h.asRun("ann", "r1").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "hi", ClientKey: "1"})
			return err
		},
		"task": func(t *testing.T, h *testHub, _ c3po.MessageID) error {
			_, err := h.asRun("ann", "r1").SendMessage(t.Context(), c3po.SendInput{Target: "role:pay", Message: "hi", ClientKey: "2", IfAway: "fail"})
			return err
		},
		"answer": func(t *testing.T, h *testHub, asked c3po.MessageID) error {
			_, err := h.asRun("ann", "r1").Reply(t.Context(), c3po.ReplyInput{MessageID: asked, Response: "yes", ClientKey: "3", Status: c3po.ReplyHandedOver, HandedTo: "bob"})
			return err
		},
		"post": func(t *testing.T, h *testHub, _ c3po.MessageID) error {
			_, err := h.asRun("ann", "r1").RoomPost(t.Context(), c3po.RoomPostInput{Room: "hall", Message: "hi @bob", ClientKey: "4"})
			return err
		},
		"person's message": func(t *testing.T, h *testHub, _ c3po.MessageID) error {
			_, err := h.asPerson().SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "hi", ClientKey: "5"})
			return err
		},
	}
	inBubble(t, func(t *testing.T) {
		between := &refusing{}
		h := configured(t, func(c *hub.Config) {
			between.Store, c.Store = c.Store, between
			c.Proved = func(ctx context.Context, _ c3po.Caller, _ c3po.Act, _ func(context.Context, *c3po.Act) error) (context.Context, error) {
				return ctx, between.refuses("proof")
			}
		})
		h.enter("bob")
		h.join("payer", "pay")
		must(h.asRun("ann", "r1").RoomJoin(t.Context(), c3po.RoomJoinInput{Room: "hall"}))(t)
		asked := h.send("bob", "ann", "well?").ID
		for name, call := range calls {
			if err := call(t, h, asked); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		refusals := map[string]int{}
		for step, codes := range codes {
			for _, code := range codes {
				between.err = c3po.Errorf(code, "refused").Suggest("Try again.")
				for name, call := range calls {
					at := h
					if step == "register" { // a coordinator that has seen nobody yet
						at = run(t, &testHub{t: t, model: h.model, calls: h.calls, configure: h.configure}, c3po.DefaultLimits(), "node-2")
					}
					between.step = step
					err := call(t, at, asked)
					between.step = ""
					if at != h {
						at.stop()
					}
					if err == nil {
						continue
					}
					refusals[step]++
					if e := c3po.AsError(err); e.NotStored || denial.MatchString(e.Message+" "+e.Suggestion) {
						t.Errorf("%s refused in step %s with %s: %+v", name, step, code, e)
					}
				}
			}
		}
		for step := range codes {
			if refusals[step] == 0 {
				t.Errorf("nothing was refused in step %s", step)
			}
		}
	})
}
