package hub_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// stumbling is a store that is gone from the nth call of a method on.
type stumbling struct {
	store.Store
	method string
	nth    int
	calls  int
}

func (s *stumbling) at(method string) error {
	if s.method != method {
		return nil
	}
	s.calls++
	if s.calls < s.nth {
		return nil
	}
	return c3po.Errorf(c3po.RedisUnavailable, "Redis cannot be reached").Suggest("Try again.")
}

func (s *stumbling) arm(method string, nth int) { s.method, s.nth, s.calls = method, nth, 0 }

func (s *stumbling) History(ctx context.Context, space c3po.Space, room c3po.RoomName, before int64, limit, bytes int) ([]store.Post, bool, error) {
	if err := s.at("History"); err != nil {
		return nil, false, err
	}
	return s.Store.History(ctx, space, room, before, limit, bytes)
}

func (s *stumbling) Rooms(ctx context.Context, space c3po.Space, agent c3po.AgentID, names []c3po.RoomName) ([]store.RoomRecord, error) {
	if err := s.at("Rooms"); err != nil {
		return nil, err
	}
	return s.Store.Rooms(ctx, space, agent, names)
}

func (s *stumbling) Agents(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]store.Record, error) {
	if err := s.at("Agents"); err != nil {
		return nil, err
	}
	return s.Store.Agents(ctx, space, ids)
}

func (s *stumbling) AgentPage(ctx context.Context, space c3po.Space, after int64, limit int) ([]store.Record, error) {
	if err := s.at("AgentPage"); err != nil {
		return nil, err
	}
	return s.Store.AgentPage(ctx, space, after, limit)
}

func (s *stumbling) Register(ctx context.Context, space c3po.Space, step store.RegisterStep) (store.Registration, error) {
	if err := s.at("Register"); err != nil {
		return store.Registration{}, err
	}
	return s.Store.Register(ctx, space, step)
}

func (s *stumbling) Now(ctx context.Context) (time.Time, error) {
	if err := s.at("Now"); err != nil {
		return time.Time{}, err
	}
	return s.Store.Now(ctx)
}

func (s *stumbling) Leave(ctx context.Context, space c3po.Space, room c3po.RoomName, agent c3po.AgentID, run string) (store.LeaveOutcome, error) {
	if err := s.at("Leave"); err != nil {
		return "", err
	}
	return s.Store.Leave(ctx, space, room, agent, run)
}

func (s *stumbling) Revive(ctx context.Context, space c3po.Space, id c3po.MessageID, step store.ReviveStep) (store.ReviveOutcome, error) {
	if err := s.at("Revive"); err != nil {
		return "", err
	}
	return s.Store.Revive(ctx, space, id, step)
}

func (s *stumbling) Purge(ctx context.Context, space c3po.Space, id c3po.MessageID) (bool, error) {
	if err := s.at("Purge"); err != nil {
		return false, err
	}
	return s.Store.Purge(ctx, space, id)
}

func (s *stumbling) AckClaimed(ctx context.Context, space c3po.Space, queue, agent c3po.AgentID, run string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	if err := s.at("AckClaimed"); err != nil {
		return nil, err
	}
	return s.Store.AckClaimed(ctx, space, queue, agent, run, ids)
}

func (s *stumbling) Received(ctx context.Context, space c3po.Space, owner c3po.AgentID, reader, route string, ids []c3po.MessageID) ([]store.AckOutcome, error) {
	if err := s.at("Received"); err != nil {
		return nil, err
	}
	return s.Store.Received(ctx, space, owner, reader, route, ids)
}

func (s *stumbling) Bury(ctx context.Context, space c3po.Space, id c3po.MessageID, reason, bounce string) (bool, error) {
	if err := s.at("Bury"); err != nil {
		return false, err
	}
	return s.Store.Bury(ctx, space, id, reason, bounce)
}

// stumble is a house whose store can be armed.
func stumble(t *testing.T) (*testHub, *stumbling) {
	t.Helper()
	limits := c3po.DefaultLimits()
	store := &stumbling{Store: storetest.NewModel(limits)}
	return run(t, &testHub{t: t, calls: &calls{Store: store, count: map[string]int{}, fail: map[string]error{}}}, limits, "node-1"), store
}

func (h *testHub) dead(n int) (ids []c3po.MessageID) {
	h.t.Helper()
	for i := range n {
		id := h.send("a", "b", strings.Repeat("x", i+1)).ID
		must(h.calls.Store.Bury(h.t.Context(), c3po.DefaultSpace, id, c3po.ReasonExpired, "late"))(h.t)
		ids = append(ids, id)
	}
	return ids
}

// What was stored is answered as done, whatever cannot be read or done after it.
func TestAChangeThatIsStoredIsNeverAnsweredWithAnError(t *testing.T) {
	for name, c := range map[string]struct {
		method  string
		nth     int
		prepare func(*testHub)
		do      func(context.Context, *testHub) (notice string, err error)
		done    func(*testHub) bool
	}{
		"room_join": {"History", 1, func(*testHub) {}, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.as("a").RoomJoin(ctx, c3po.RoomJoinInput{Room: "hall"})
			return out.Notice, err
		}, func(h *testHub) bool { return len(h.agent("a").Rooms) == 1 }},
		"room_set": {"Rooms", 1, func(h *testHub) { must(h.as("a").RoomJoin(h.t.Context(), c3po.RoomJoinInput{Room: "hall"}))(h.t) },
			func(ctx context.Context, h *testHub) (string, error) {
				out, err := h.as("a").RoomSet(ctx, c3po.RoomSetInput{Room: "hall", Visibility: c3po.InviteOnly})
				return string(out.Visibility), err
			}, func(h *testHub) bool {
				rooms := must(h.as("a").RoomList(h.t.Context(), c3po.RoomListInput{}))(h.t)
				return rooms.Rooms[0].Visibility == c3po.InviteOnly
			}},
		"room_prune": {"Leave", 2, func(h *testHub) {
			for _, id := range []c3po.AgentID{"a", "b"} {
				must(h.as(id).RoomJoin(h.t.Context(), c3po.RoomJoinInput{Room: "hall"}))(h.t)
			}
			pass(48 * time.Hour)
		}, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.asPerson().RoomPrune(ctx, c3po.RoomPruneInput{})
			if len(out.Evicted) != 1 {
				h.t.Errorf("evicted %v", out.Evicted)
			}
			return out.Notice, err
		}, func(h *testHub) bool { return len(h.agent("a").Rooms)+len(h.agent("b").Rooms) == 1 }},
		"pause": {"Agents", 1, func(*testHub) {}, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.asPerson().Pause(ctx, c3po.PauseInput{AgentID: "a"})
			if out.Paused == nil {
				h.t.Error("it is not said to be paused")
			}
			return out.Notice, err
		}, func(h *testHub) bool { return h.agent("a").Paused != nil }},
		"rename": {"Register", 1, func(*testHub) {}, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.as("a").Rename(ctx, c3po.RenameInput{NewID: "anna"})
			return out.Message, err
		}, func(h *testHub) bool { return h.agent("anna").ID == "anna" }},
		"broadcast": {"AgentPage", 1, func(*testHub) {}, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.as("a").Broadcast(ctx, c3po.BroadcastInput{Message: "hello"})
			if out.ID == "" || out.Next == "" {
				h.t.Errorf("the receipt is %+v", out)
			}
			return out.Notice, err
		}, func(h *testHub) bool { return len(h.inbox("b")) == 1 }},
		"bridge_send_message": {"Now", 1, func(*testHub) {}, func(ctx context.Context, h *testHub) (string, error) {
			op := must(dialect.FindOperation("bridge_send_message"))(h.t)
			out, err := op.Call(ctx, h.as("a").Actor, []byte(`{"agentId": "b", "payload": {"text": "hello"}, "timeoutMs": 1000}`))
			if err != nil {
				return "", err
			}
			return out.(*dialect.Ticket).Message, nil
		}, func(h *testHub) bool { return len(h.inbox("b")) == 1 }},
		"dead_letter_replay": {"Revive", 2, func(h *testHub) { h.dead(3) }, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.asPerson().DeadLetterReplay(ctx, c3po.LetterSelection{All: true})
			if len(out.Done) != 1 || len(out.Undecided) != 2 {
				h.t.Errorf("done %v, undecided %v", out.Done, out.Undecided)
			}
			return out.Notice, err
		}, func(h *testHub) bool { return len(h.inbox("b")) == 1 }},
		"dead_letter_purge": {"Purge", 2, func(h *testHub) { h.dead(3) }, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.asPerson().DeadLetterPurge(ctx, c3po.LetterSelection{All: true})
			if len(out.Done) != 1 || len(out.Undecided) != 2 {
				h.t.Errorf("done %v, undecided %v", out.Done, out.Undecided)
			}
			return out.Notice, err
		}, func(h *testHub) bool {
			return len(must(h.asPerson().DeadLetters(h.t.Context(), c3po.LettersInput{}))(h.t).Letters) == 2
		}},
		"sweep": {"Bury", 2, func(h *testHub) {
			h.send("a", "b", "one")
			h.send("a", "b", "two")
			pass(12 * time.Hour)
			h.enter("a")
		}, func(ctx context.Context, h *testHub) (string, error) {
			out, err := h.asPerson().Sweep(ctx, c3po.SweepInput{Older: "6h"})
			if !out.More {
				h.t.Error("nobody is told to call again")
			}
			return out.Notice, err
		}, func(h *testHub) bool {
			return len(must(h.asPerson().DeadLetters(h.t.Context(), c3po.LettersInput{}))(h.t).Letters) == 1
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h, store := stumble(t)
				h.enter("a", "b")
				c.prepare(h)
				store.arm(c.method, c.nth)
				notice, err := c.do(t.Context(), h)
				store.arm("", 0)
				if done := c.done(h); done != (err == nil) || done && notice == "" {
					t.Errorf("done: %v, answered with %v and the notice %q", done, err, notice)
				}
			})
		})
	}
}

// A worker acks its own mail and a task of its queue, which are two mailboxes.
func TestAnAckOfTwoMailboxesSaysWhichOneFailed(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		nth    int
		do     func(context.Context, *testHub, []c3po.MessageID) (c3po.AckResult, error)
	}{
		"ack_messages": {"AckClaimed", 1, func(ctx context.Context, h *testHub, ids []c3po.MessageID) (c3po.AckResult, error) {
			return h.as("b").AckMessages(ctx, c3po.AckInput{MessageIDs: ids})
		}},
		"received": {"Received", 2, func(ctx context.Context, h *testHub, ids []c3po.MessageID) (c3po.AckResult, error) {
			return h.as("b").Received(ctx, c3po.ReceivedInput{MessageIDs: ids})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				h, store := stumble(t)
				h.enter("a")
				must(h.as("b").RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"review"}}))(t)
				own := h.send("a", "b", "for you").ID
				task := must(h.as("a").SendMessage(t.Context(), c3po.SendInput{Target: "role:review", Message: "for one of you"}))(t).ID
				must(h.as("b").Claim(t.Context(), c3po.MessageInput{MessageID: task}))(t)

				store.arm(c.method, c.nth)
				out, err := c.do(t.Context(), h, []c3po.MessageID{own, task})
				if err != nil || out.Notice == "" {
					t.Fatalf("it is answered with %v, and the notice %q", err, out.Notice)
				}
				same(t, "done", len(out.Acked)+len(out.Already), 1)
				same(t, "undecided", out.Undecided, []c3po.MessageID{task})
				store.arm("", 0)
				again := must(c.do(t.Context(), h, out.Undecided))(t)
				same(t, "the rest", len(again.Acked)+len(again.Already), 1)

				// If the first mailbox fails, nothing was done.
				store.arm(c.method, 1)
				_, err = c.do(t.Context(), h, []c3po.MessageID{task, own})
				refused(t, err, c3po.RedisUnavailable)
			})
		})
	}
}
