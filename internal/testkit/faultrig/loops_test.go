package faultrig_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// reactor reacts to all it is given until the context ends, and counts what came
// through.
func reactor(ctx context.Context, c *client.Client, sent *atomic.Int64, react func(c3po.Message, int) error) {
	for n, after := 0, int64(0); ctx.Err() == nil; {
		got, err := c.WaitForMessage(ctx, c3po.WaitInput{Timeout: 1, After: &after})
		if err != nil {
			continue // the context has ended, or the next wait says why
		}
		after = got.Cursor
		if got.Outcome != nil || got.FromAgent == c3po.System {
			continue
		}
		n++
		if react(got.Message, n) == nil {
			sent.Add(1)
		}
		_, _ = c.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}})
	}
}

// It times, so it runs alone.
func TestLoopStormsStopAndHurtNobodyElse(t *testing.T) {
	pairs, triangles, calls := faultrig.Size(3, 20), faultrig.Size(3, 20), faultrig.Size(1_000, 5_000)
	limits := c3po.DefaultLimits()
	limits.SendsPerMinute, limits.PairMessages, limits.AgentMessages = 0, 0, 0 // of the honest ones
	url := inProcess(t, server.Config{RedisURL: redistest.Start(t), Limits: limits})
	ask, other := agent(t, url, "honest"), agent(t, url, "other")
	measure := func(name string) time.Duration {
		var took []time.Duration
		for i := range calls {
			began := time.Now()
			receipt, err := ask.SendMessage(t.Context(), c3po.SendInput{Target: "other", Message: fmt.Sprint(name, i)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{receipt.ID}}); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	quiet := measure("quiet ")

	ctx, stop := context.WithCancel(t.Context())
	var storms sync.WaitGroup
	defer storms.Wait()
	defer stop()
	var counts []*atomic.Int64
	begin := func(ids []c3po.AgentID, react func(c *client.Client, next c3po.AgentID) func(c3po.Message, int) error) {
		sent := &atomic.Int64{}
		counts = append(counts, sent)
		var clients []*client.Client
		for _, id := range ids {
			clients = append(clients, agent(t, url, id))
		}
		for i, c := range clients {
			storms.Go(func() { reactor(ctx, c, sent, react(c, ids[(i+1)%len(ids)])) })
		}
		if _, err := clients[0].SendMessage(t.Context(), c3po.SendInput{Target: string(ids[1]), Message: "begin"}); err != nil {
			t.Fatal(err)
		}
		sent.Add(1)
	}
	for i := range pairs {
		begin([]c3po.AgentID{c3po.AgentID(fmt.Sprintf("p%d-a", i)), c3po.AgentID(fmt.Sprintf("p%d-b", i))},
			func(c *client.Client, _ c3po.AgentID) func(c3po.Message, int) error {
				return func(m c3po.Message, n int) error {
					_, err := c.Reply(ctx, c3po.ReplyInput{MessageID: m.ID, Response: fmt.Sprint("and you? ", n), ExpectsReply: true})
					return err
				}
			})
	}
	for i := range triangles {
		name := func(corner string) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("t%d-%s", i, corner)) }
		begin([]c3po.AgentID{name("a"), name("b"), name("c")}, func(c *client.Client, next c3po.AgentID) func(c3po.Message, int) error {
			return func(_ c3po.Message, n int) error {
				_, err := c.SendMessage(ctx, c3po.SendInput{Target: string(next), Message: fmt.Sprint("pass it on ", n)})
				return err
			}
		})
	}
	stormy := measure("stormy ")

	person := client.New(client.Config{URL: url})
	questions := func() []c3po.Message {
		list, err := person.HumanList(t.Context(), c3po.GetMessagesInput{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return list.Messages
	}
	eventuallyWithin(t, time.Minute, "each storm was stopped and a person told", func() bool { return len(questions()) >= pairs+triangles })
	asked := questions()
	if len(asked) != pairs+triangles {
		t.Errorf("a person was asked %d times about %d storms", len(asked), pairs+triangles)
	}
	for i, sent := range counts {
		if n := sent.Load(); n > 40 {
			t.Errorf("storm %d: %d messages came through, more than 40", i, n)
		}
	}
	t.Logf("%d storms, %d messages in the first", len(counts), counts[0].Load())
	// What else the machine does is no storm: quiet is the worse of before and after.
	quiet = max(quiet, measure("quiet again "))
	t.Logf("p99 quiet %v, stormy %v", quiet, stormy)
	faultrig.Hold(t, "p99 of others in the storms, twice the quiet one", stormy, 2*quiet)
	_, thread, _ := strings.Cut(asked[0].Message, "c3po thread resume ")
	done, err := person.ThreadResume(t.Context(), c3po.ThreadResumeInput{Thread: thread})
	if err != nil || !done.Resumed {
		t.Errorf("resume %q: %+v, %v", thread, done, err)
	}
	balanced(t, ask)
	most := int64(0)
	for _, sent := range counts {
		most = max(most, sent.Load())
	}
	faultrig.Verdict{
		Row: "I10s", Holds: []faultrig.Invariant{faultrig.BooksBalance},
		Size:   fmt.Sprintf("%d exchanges of others, p99 %v in the storms, %v without", calls, stormy.Round(time.Millisecond/10), quiet.Round(time.Millisecond/10)),
		Faults: fmt.Sprintf("%d storms of two and %d of three agents, stopped after %d messages at the most", pairs, triangles, most),
	}.Record(t)
}
