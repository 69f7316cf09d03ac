package faultrig_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A scene is one space, and the hub that acts in it.
type scene struct {
	space c3po.Space
	hub   *hub.Hub
	redis string // its address
	ids   map[string]c3po.MessageID
	clock *atomic.Int64 // in seconds, of all scenes
	sound store.Store   // a way to Redis that nobody hurts; of scenes that are cut
}

func (s *scene) as(id c3po.AgentID) *hub.Actor {
	return s.hub.As(c3po.Caller{Space: s.space, ID: id, Role: c3po.RoleAgent})
}

func (s *scene) person() *hub.Actor {
	return s.hub.As(c3po.Caller{Space: s.space, ID: c3po.Human, Role: c3po.RoleAdmin})
}

// send sends under its text as the key, and keeps the id under it.
func (s *scene) send(ctx context.Context, from c3po.AgentID, to, text string) error {
	receipt, err := s.as(from).SendMessage(ctx, c3po.SendInput{Target: to, Message: text, ClientKey: text})
	s.ids[text] = receipt.ID
	return err
}

func (s *scene) sends(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if err := s.send(ctx, "ana", "bob", text); err != nil {
			return err
		}
	}
	return nil
}

// A deed is an operation and what was there before it. Whoever is not told that
// it was done does it again.
type deed struct {
	name    string
	prepare func(context.Context, *scene) error
	do      func(context.Context, *scene) error
}

func deeds() []deed {
	asked := func(ctx context.Context, s *scene) error { return s.sends(ctx, "one", "two", "three") }
	return []deed{
		{"send", asked, func(ctx context.Context, s *scene) error { return s.sends(ctx, "four") }},
		{"send to a role", func(ctx context.Context, s *scene) error {
			_, err := s.as("cyd").RegisterAgent(ctx, c3po.RegisterInput{Capabilities: []string{"review"}})
			return err
		}, func(ctx context.Context, s *scene) error { return s.send(ctx, "ana", "role:review", "who looks?") }},
		{"ack", asked, func(ctx context.Context, s *scene) error {
			_, err := s.as("bob").AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{s.ids["one"], s.ids["two"]}})
			return err
		}},
		{"reply", asked, func(ctx context.Context, s *scene) error {
			_, err := s.as("bob").Reply(ctx, c3po.ReplyInput{MessageID: s.ids["two"], Response: "an answer", ClientKey: "answer"})
			return err
		}},
		{"hand over", asked, func(ctx context.Context, s *scene) error {
			_, err := s.as("bob").Reply(ctx, c3po.ReplyInput{
				MessageID: s.ids["two"], Response: "ask dan", Status: c3po.ReplyHandedOver, HandedTo: "dan", ClientKey: "moved",
			})
			return err
		}},
		{"cancel", asked, func(ctx context.Context, s *scene) error {
			_, err := s.as("ana").Cancel(ctx, c3po.MessageInput{MessageID: s.ids["two"]})
			return err
		}},
		{"ask a person", asked, func(ctx context.Context, s *scene) error {
			_, err := s.as("ana").EscalateToHuman(ctx, c3po.EscalateInput{Reason: "may I?", ClientKey: "may I"})
			return err
		}},
		{"answer of a person", func(ctx context.Context, s *scene) error {
			asked, err := s.as("ana").EscalateToHuman(ctx, c3po.EscalateInput{Reason: "may I?", ClientKey: "may I"})
			s.ids["may I"] = asked.MessageID
			return err
		}, func(ctx context.Context, s *scene) error {
			_, err := s.person().HumanAnswer(ctx, c3po.AnswerInput{MessageID: s.ids["may I"], Response: "you may", ClientKey: "you may"})
			return err
		}},
		{"post", func(ctx context.Context, s *scene) error {
			for _, id := range []c3po.AgentID{"ana", "bob"} {
				if _, err := s.as(id).RoomJoin(ctx, c3po.RoomJoinInput{Room: "hall"}); err != nil {
					return err
				}
			}
			return nil
		}, func(ctx context.Context, s *scene) error {
			_, err := s.as("ana").RoomPost(ctx, c3po.RoomPostInput{Room: "hall", Message: "hello @bob", ClientKey: "hello"})
			return err
		}},
		{"dead letter", func(ctx context.Context, s *scene) error {
			if err := asked(ctx, s); err != nil {
				return err
			}
			_, _, hex := s.ids["two"].Split()
			_, err := redistest.Do(s.redis, "HSET", fmt.Sprintf("c3po:1:{%s}:body:bob", s.space), hex, "damaged")
			return err
		}, func(ctx context.Context, s *scene) error {
			list, err := s.as("bob").GetMessages(ctx, c3po.GetMessagesInput{})
			if err == nil && list.Count != 2 {
				err = fmt.Errorf("%d messages are read", list.Count)
			}
			return err
		}},
		{"reap", func(ctx context.Context, s *scene) error {
			err := asked(ctx, s)
			if err == nil {
				_, err = s.as("bob").AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{s.ids["one"]}})
			}
			if err == nil {
				err = s.hub.Reap(ctx)
			}
			s.clock.Add(2 * 60)
			return err
		}, func(ctx context.Context, s *scene) error {
			// Another coordinator goes on once its tick counts, half an interval later.
			s.clock.Add(30)
			return s.hub.Reap(ctx)
		}},
		{"bring back", func(ctx context.Context, s *scene) error {
			err := asked(ctx, s)
			if err == nil {
				err = s.hub.Reap(ctx)
			}
			s.clock.Add(2 * 60)
			if err == nil {
				err = s.hub.Reap(ctx)
			}
			return err
		}, func(ctx context.Context, s *scene) error {
			outcome, err := s.person().DeadLetterReplay(ctx, c3po.LetterSelection{Reason: c3po.ReasonExpired})
			if err == nil && len(outcome.Undecided) > 0 {
				err = fmt.Errorf("%d letters are undecided: %s", len(outcome.Undecided), outcome.Notice)
			}
			return err
		}},
	}
}

// oneSpace is a store that knows of one space only: a reaper looks at all.
type oneSpace struct {
	store.Store
	space c3po.Space
}

func (s oneSpace) Spaces(context.Context) ([]c3po.Space, error) { return []c3po.Space{s.space}, nil }

// state is everything that agents and people can see of a space, in order.
func (s *scene) state(t *testing.T) []string {
	t.Helper()
	audit, err := s.person().Fsck(t.Context(), c3po.None{})
	if err != nil {
		t.Fatal(err)
	}
	audit.Space = ""
	out := []string{fmt.Sprintf("%+v", counts(audit))}
	see := func(of string, list c3po.MessageList, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Messages {
			out = append(out, fmt.Sprintf("%s: %s %s %q %q", of, m.FromAgent, m.Kind, withoutIDs(m.Text()), m.HandedFrom))
		}
	}
	for _, id := range cast() {
		list, err := s.as(id).GetMessages(t.Context(), c3po.GetMessagesInput{})
		see(string(id), list, err)
	}
	questions, err := s.person().HumanList(t.Context(), c3po.GetMessagesInput{})
	see("human", questions, err)
	letters, err := s.person().DeadLetters(t.Context(), c3po.LettersInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, letter := range letters.Letters {
		out = append(out, fmt.Sprintf("dead of %s: %s to %s", letter.Reason, letter.FromAgent, letter.ToAgent))
	}
	return out
}

// withoutIDs leaves out what is different in every run of the same.
func withoutIDs(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.Contains(word, "::") {
			words[i] = "ID"
		}
	}
	return strings.Join(words, " ")
}

// An operation is one or several steps, each carried out whole by Redis. Its
// coordinator dies before a step, or after it and before the answer, at every
// step there is; another one then does what its caller asks for again. Nothing
// must be left that would not be there if nobody had died.
func TestACoordinatorMayDieBeforeAndAfterEveryStep(t *testing.T) {
	t.Parallel()
	times := faultrig.Size(1, 20)
	redis := redistest.New(t)
	proxy := faultrig.NewProxy(t, redis.URL())
	clock := new(atomic.Int64)
	limits := noLimits()
	limits.MessageLife, limits.EndedLife, limits.ReapEvery = time.Minute, time.Minute, time.Minute
	began := time.Now()
	open := func(url string) *redisstore.Store {
		return opened(t, redisstore.Config{URL: url, Limits: limits, Now: func() time.Time {
			return began.Add(time.Duration(clock.Load()) * time.Second)
		}})
	}
	sound := open(redis.URL())
	defer sound.Close()
	scenes := 0
	stage := func(d deed) *scene {
		t.Helper()
		scenes++
		s := &scene{space: c3po.Space(fmt.Sprintf("scene-%d-", scenes)), redis: redis.Addr(), ids: map[string]c3po.MessageID{}, clock: clock}
		s.hub = hub.New(hub.Config{Store: oneSpace{sound, s.space}, Limits: limits})
		for _, id := range cast() {
			if _, err := s.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.prepare(t.Context(), s); err != nil {
			t.Fatalf("prepare to %s: %v", d.name, err)
		}
		return s
	}
	// on is a coordinator that has just been started.
	on := func(s *scene, store store.Store) *scene {
		s.hub = hub.New(hub.Config{Store: oneSpace{store, s.space}, Limits: limits})
		return s
	}

	points, deaths, missed, wrong := 0, 0, 0, 0
	for _, d := range deeds() {
		// A script that Redis sees for the first time takes a step more.
		s, alive := stage(d), open("redis://"+proxy.Addr())
		if err := d.do(t.Context(), on(stage(d), sound)); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		proxy.FailAt(string(s.space), 0, false, nil)
		if err := d.do(t.Context(), on(s, alive)); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		steps := proxy.Requests()
		alive.Close()
		want := on(s, sound).state(t)
		t.Logf("%s: %d steps", d.name, steps)
		points += 2*steps + 1
		for n := range times * (2*steps + 1) {
			at, executed := n%(2*steps+1)/2+1, n%(2*steps+1)%2 == 1
			point := fmt.Sprintf("%s, death before step %d", d.name, at)
			if executed {
				point = fmt.Sprintf("%s, death after step %d", d.name, at)
			}
			s, mortal := stage(d), open("redis://"+proxy.Addr())
			ctx, cancel := context.WithCancel(t.Context())
			var end sync.WaitGroup
			proxy.FailAt(string(s.space), at, executed, func() {
				cancel()
				end.Go(mortal.Close)
			})
			err := d.do(ctx, on(s, mortal))
			dead := ctx.Err() != nil
			cancel()
			proxy.Heal()
			end.Wait()
			switch {
			case dead:
				deaths++
			case at <= steps:
				missed++
				mortal.Close()
			default:
				mortal.Close()
			}
			// Whoever was not told, and whoever did not hear what it was told, asks again.
			if err != nil || at > steps {
				if err := d.do(t.Context(), on(s, sound)); err != nil {
					t.Errorf("%s: it cannot be done again: %v", point, err)
				}
			}
			if diff := cmp.Diff(want, on(s, sound).state(t)); diff != "" {
				wrong++
				t.Errorf("%s, answered with %v (-alive +dead):\n%s", point, err, diff)
			}
		}
	}
	t.Logf("%d points, %d deaths, %d that the operation did not come to", points, deaths, missed)
	if missed*10 > deaths {
		t.Errorf("%d of %d deaths did not happen", missed, missed+deaths)
	}
	faultrig.Verdict{
		Row:   "B7",
		Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance},
		Size:  fmt.Sprintf("%d operations, %d points", len(deeds()), points), Faults: fmt.Sprintf("%d deaths at a point", deaths), Lost: wrong,
	}.Record(t)
}
