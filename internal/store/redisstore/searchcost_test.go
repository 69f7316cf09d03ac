package redisstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// The rare word is in the oldest message, behind everything else.
func TestASearchAnswersSoonHoweverMuchWasSaid(t *testing.T) {
	const agents, workers = 50, 8
	messages := faultrig.Size(5_000, 100_000)
	limits := c3po.DefaultLimits().Unbudgeted()
	limits.InboxMessages, limits.InboxBytes, limits.SpaceBytes, limits.EventEntries = messages, 1<<40, 0, messages/2
	s, err := redisstore.Open(t.Context(), redisstore.Config{URL: redistest.Start(t), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	name := func(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprint("agent-", i%agents)) }
	for i := range agents {
		if _, err := s.Register(t.Context(), "main", store.RegisterStep{Want: name(i)}); err != nil {
			t.Fatal(err)
		}
	}
	say := func(i int, text string) {
		draft := store.Draft{From: name(i), To: name(i + 1), Kind: c3po.KindMessage, Priority: c3po.Normal, Text: text}
		if _, err := s.Send(t.Context(), "main", store.SendStep{Draft: draft}); err != nil {
			t.Error(err)
		}
	}
	say(0, "the needle")
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < messages; i += workers {
				text := fmt.Sprintf("message %d has topic%d. ", i, i%1000)
				for j := range 40 {
					text += fmt.Sprintf("Word%d said something ", (i*7+j*13)%5000)
				}
				say(i, text)
			}
		})
	}
	all.Wait()
	h := hub.New(hub.Config{Store: s, Limits: limits, Node: "node"})
	look := func(words string, limit int) (first, whole time.Duration, hits int) {
		began := time.Now()
		for cursor := ""; ; {
			page, err := h.As(c3po.Caller{Role: c3po.RoleHuman, Route: "rest"}).Search(t.Context(), c3po.SearchInput{Words: words, Cursor: cursor, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			if first == 0 {
				first = time.Since(began)
			}
			hits += len(page.Hits)
			if cursor = page.Next; cursor == "" || hits >= limit {
				return first, time.Since(began), hits
			}
		}
	}
	soon, _, many := look("TOPIC17 message", 5)
	if many != 5 {
		t.Errorf("a common word has %d hits on its first page, want 5", many)
	}
	first, whole, hits := look("needle", 5)
	if hits != 1 {
		t.Errorf("the rare word has %d hits, want 1", hits)
	}
	t.Logf("%d messages: a common word %s; a rare one, the first answer %s, everything %s", messages, soon, first, whole)
	faultrig.Hold(t, "first hits of a common word", soon, 300*time.Millisecond)
	faultrig.Hold(t, "first answer for a rare word", first, 300*time.Millisecond)
}
