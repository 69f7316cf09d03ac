package faultrig_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// cast are the agents of a story.
func cast() []c3po.AgentID { return []c3po.AgentID{"ana", "bob", "cyd", "dan"} }

// A story is a bit of everything that is stored: mail that is read, that waits,
// that dies; questions that are answered, handed on and cancelled; a room. Every
// step has a key of its own, so that the whole may be told again.
type story struct {
	url   string
	store *redisstore.Store
	err   error
}

// tell tells it, so many times over. The first failure ends it.
func (s *story) tell(ctx context.Context, rounds int) error {
	as := map[c3po.AgentID]*client.Client{}
	for _, id := range cast() {
		as[id] = client.New(client.Config{URL: s.url, AgentID: id})
		s.try(func() error { _, err := as[id].RegisterAgent(ctx, c3po.RegisterInput{}); return err })
		s.try(func() error { _, err := as[id].RoomJoin(ctx, c3po.RoomJoinInput{Room: "hall"}); return err })
	}
	for n := range rounds {
		send := func(from, to c3po.AgentID, what string, more func(*c3po.SendInput)) (id c3po.MessageID) {
			in := c3po.SendInput{
				Target: string(to), Message: fmt.Sprintf("%s tells %s of %s, %d", from, to, what, n), ClientKey: fmt.Sprintf("%s-%d", what, n),
				Context: "background of " + what, Metadata: json.RawMessage(fmt.Sprintf(`{"round":%d}`, n)),
			}
			if more != nil {
				more(&in)
			}
			s.try(func() error {
				receipt, err := as[from].SendMessage(ctx, in)
				id = receipt.ID
				return err
			})
			return id
		}
		reply := func(from c3po.AgentID, to c3po.MessageID, what string, more func(*c3po.ReplyInput)) (id c3po.MessageID) {
			in := c3po.ReplyInput{MessageID: to, Response: fmt.Sprintf("%s answers %s, %d", from, what, n), ClientKey: fmt.Sprintf("%s-%d", what, n)}
			if more != nil {
				more(&in)
			}
			s.try(func() error {
				answer, err := as[from].Reply(ctx, in)
				id = answer.ID
				return err
			})
			return id
		}
		ack := func(as *client.Client, id c3po.MessageID) {
			s.try(func() error {
				_, err := as.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{id}})
				return err
			})
		}
		// A question and its answer, which is read.
		answer := reply("bob", send("ana", "bob", "question", nil), "answer", nil)
		ack(as["ana"], answer)
		// Mail that waits, some of it urgent, and mail that is read.
		send("cyd", "bob", "urgent", func(in *c3po.SendInput) { in.Priority = c3po.Urgent })
		send("dan", "bob", "waiting", func(in *c3po.SendInput) { in.ExpectsReply = new(bool) })
		ack(as["cyd"], send("bob", "cyd", "news", nil))
		// A question that is handed on, and one that is taken back.
		reply("bob", send("ana", "bob", "errand", nil), "errand-moved", func(in *c3po.ReplyInput) {
			in.Status, in.HandedTo = c3po.ReplyHandedOver, "cyd"
		})
		cancelled := send("cyd", "dan", "mistake", nil)
		s.try(func() error { _, err := as["cyd"].Cancel(ctx, c3po.MessageInput{MessageID: cancelled}); return err })
		// Mail that nobody reads in time.
		late := send("ana", "dan", "late", nil)
		s.try(func() error {
			_, err := s.store.Bury(ctx, c3po.DefaultSpace, late, c3po.ReasonExpired, fmt.Sprintf("the letter of round %d has expired", n))
			return err
		})
		s.try(func() error {
			_, err := as["dan"].RoomPost(ctx, c3po.RoomPostInput{Room: "hall", Message: fmt.Sprintf("dan says to all, %d", n), ClientKey: fmt.Sprintf("post-%d", n)})
			return err
		})
	}
	return s.err
}

// try takes a step unless one has failed before.
func (s *story) try(step func() error) {
	if s.err == nil {
		s.err = step()
	}
}

// newStory starts a coordinator in this process, over a store of its own beside it.
func newStory(t *testing.T, redis string) *story {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: redis, Limits: noLimits()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return &story{url: inProcess(t, server.Config{RedisURL: redis, Limits: noLimits()}), store: store}
}

// books are what fsck counts, and whether it balances.
func (s *story) books(t *testing.T) c3po.Audit {
	t.Helper()
	audit, err := client.New(client.Config{URL: s.url, AgentID: "auditor"}).Fsck(t.Context(), c3po.None{})
	if err != nil {
		t.Fatal(err)
	}
	return audit
}

// shown is all unread mail of everybody, as it is read: by whom and under which
// id, as JSON. What is said only of its reading is left out, and it does not count as
// read: a sender that cancels it later would tell its readers.
func (s *story) shown(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, id := range cast() {
		svc := client.New(client.Config{URL: s.url, AgentID: id})
		for in := (c3po.GetMessagesInput{}); ; {
			page, err := svc.Peek(t.Context(), in)
			if err != nil {
				t.Fatalf("%s cannot read its mail: %v", id, err)
			}
			for _, m := range page.Messages {
				m.Redelivered, m.Deliveries = false, 0
				text, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				all[fmt.Sprintf("%s %s", id, m.ID)] = string(text)
			}
			if page.Next == "" {
				break
			}
			in.Cursor = page.Next
		}
	}
	return all
}

// texts are all texts of shown mail, sorted: numbers and times left out.
func texts(t *testing.T, shown map[string]string) []string {
	t.Helper()
	var all []string
	for _, raw := range slices.Sorted(maps.Keys(shown)) {
		m := parsed(t, shown[raw])
		all = append(all, fmt.Sprintf("%s: %s %s %s %t", m.FromAgent, m.Kind, m.Text(), m.Context, m.BodyGone))
	}
	slices.Sort(all)
	return all
}
