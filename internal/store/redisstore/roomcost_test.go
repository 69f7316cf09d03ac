package redisstore

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAPostTakesTheSameMemoryWhateverTheSizeOfTheRoom(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: redistest.Start(t), Limits: c3po.DefaultLimits().Unbudgeted()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	sizes, rounds := []int{10, 1_000}, 200
	if faultrig.Torture() {
		sizes, rounds = append(sizes, 10_000, 100_000), 2_000
	}
	for _, members := range sizes {
		space := c3po.Space(fmt.Sprintf("room-of-%d", members))
		register := func(id c3po.AgentID) {
			if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Join(t.Context(), space, store.JoinStep{Room: "room", Agent: id, Visibility: c3po.Public}); err != nil {
				t.Fatal(err)
			}
		}
		register("ana")
		register("bob")
		for i := range members - 2 {
			register(c3po.AgentID(fmt.Sprintf("m%d", i)))
		}
		grown := 0
		for i := range rounds {
			in := postStep(fmt.Sprint("posted ", i))
			in.Text, in.RateLimit = strings.Repeat("x", 500), 0
			before := memory(t, s)
			if _, err := s.Post(t.Context(), space, in); err != nil {
				t.Fatal(err)
			}
			grown += memory(t, s) - before
		}
		faultrig.Hold(t, fmt.Sprintf("bytes of memory of a post with a text of 500 in a room of %d", members), grown/rounds, 3000)
	}
}

// memory is what Redis holds of data.
func memory(t *testing.T, s *Store) int {
	t.Helper()
	info, err := s.commands.Do(t.Context(), s.commands.B().Info().Section("memory").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if text, found := strings.CutPrefix(strings.TrimSpace(line), "used_memory:"); found {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("Redis does not say what it holds")
	return 0
}
