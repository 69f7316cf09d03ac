package faultrig_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// persist repeats what a caller repeats: a call that a coordinator's death cut off.
func persist[Out any](ctx context.Context, t *testing.T, what string, call func(context.Context) (Out, error)) (out Out) {
	for ctx.Err() == nil {
		var err error
		if out, err = call(ctx); err == nil {
			return out
		}
		if e := c3po.AsError(err); e.Code.Retry() == c3po.RetryNo {
			t.Errorf("%s: %v", what, err)
			return out
		}
	}
	t.Errorf("%s: %v", what, ctx.Err())
	return out
}

func TestEveryMemberSeesEveryPostOnceInOneOrderWhileCoordinatorsAreKilled(t *testing.T) {
	t.Parallel()
	const senders, nodes = 20, 3
	members, posts := faultrig.Size(40, 200), faultrig.Size(400, 2_000)

	redis := redistest.New(t, "--appendfsync", "always")
	var coordinators []*faultrig.Coordinator
	for range nodes {
		coordinators = append(coordinators, faultrig.Start(t, redis.URL()))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	ids, services := make([]c3po.AgentID, members), make([]*client.Client, members)
	for i := range members {
		ids[i] = c3po.AgentID(fmt.Sprintf("member-%d", i))
		services[i] = agent(t, coordinators[i%nodes].URL(), ids[i])
		if _, err := services[i].RoomJoin(ctx, c3po.RoomJoinInput{Room: "build"}); err != nil {
			t.Fatal(err)
		}
	}

	// One coordinator is killed every two seconds until all was said and read, and
	// more often where that is soon.
	every := time.Duration(faultrig.Size(200, 2_000)) * time.Millisecond
	killing, calm := context.WithCancel(ctx)
	defer calm()
	var faults sync.WaitGroup
	kills := 0
	faults.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-killing.Done():
				return
			case <-tick.C:
				coordinators[kills%nodes].Kill()
				coordinators[kills%nodes].Restart()
				kills++
			}
		}
	})

	var speaking, listening sync.WaitGroup
	for s := range senders {
		speaking.Go(func() {
			for n := range posts / senders {
				text := fmt.Sprintf("%s says %d", ids[s], n)
				in := c3po.RoomPostInput{Room: "build", Message: text, ClientKey: text}
				persist(ctx, t, text, func(ctx context.Context) (c3po.PostReceipt, error) { return services[s].RoomPost(ctx, in) })
			}
		})
	}
	read := make([][]string, members)
	for i := range members {
		want := posts
		if i < senders {
			want -= posts / senders // nobody is shown what it said itself
		}
		listening.Go(func() { read[i] = listen(ctx, t, services[i], want) })
	}
	speaking.Wait()
	listening.Wait()
	calm()
	faults.Wait()

	late := agent(t, coordinators[0].URL(), "late")
	joined, err := late.RoomJoin(ctx, c3po.RoomJoinInput{Room: "build"})
	if err != nil {
		t.Fatal(err)
	}
	all := joined.Messages
	for cursor := joined.Next; cursor != ""; {
		page, err := late.RoomHistory(ctx, c3po.RoomHistoryInput{Room: "build", Cursor: cursor, Limit: 500})
		if err != nil {
			t.Fatal(err)
		}
		all, cursor = append(page.Messages, all...), page.Next
	}
	if len(all) != posts {
		t.Fatalf("the history has %d posts, %d were said", len(all), posts)
	}
	for i := range members {
		var want []string
		for _, m := range all {
			if m.FromAgent != ids[i] {
				want = append(want, m.Message)
			}
		}
		if diff := cmp.Diff(want, read[i]); diff != "" {
			t.Errorf("%s (-said +heard):\n%.2000s", ids[i], diff)
		}
	}
	balanced(t, late)
	if kills == 0 {
		t.Error("no coordinator was killed, so this proves nothing")
	}
	t.Logf("%d members, %d posts of %d senders, %d coordinators killed", members, posts, senders, kills)
}

// listen waits, reads and acks until there were so many, and gives what it read.
func listen(ctx context.Context, t *testing.T, svc *client.Client, want int) []string {
	var read []string
	for len(read) < want && ctx.Err() == nil && !t.Failed() {
		persist(ctx, t, "wait", func(ctx context.Context) (c3po.WaitResult, error) {
			return svc.WaitForMessage(ctx, c3po.WaitInput{Timeout: 1})
		})
		page := persist(ctx, t, "read", func(ctx context.Context) (c3po.MessageList, error) {
			return svc.GetMessages(ctx, c3po.GetMessagesInput{})
		})
		if len(page.Messages) == 0 {
			continue
		}
		for _, m := range page.Messages {
			read = append(read, m.Message)
		}
		last := page.Messages[len(page.Messages)-1].ID
		persist(ctx, t, "ack", func(ctx context.Context) (c3po.AckResult, error) {
			return svc.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{last}})
		})
	}
	return read
}
