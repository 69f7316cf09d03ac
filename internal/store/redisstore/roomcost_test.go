package redisstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAPostCostsAboutASendWhateverTheSizeOfTheRoom(t *testing.T) {
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
		text := strings.Repeat("x", 500)
		send := func(i int) {
			in := sendStep(fmt.Sprint("sent ", i))
			in.Text, in.Alias, in.RateLimit = text, "", 0
			if _, err := s.Send(t.Context(), space, in); err != nil {
				t.Fatal(err)
			}
		}
		post := func(i int) {
			in := postStep(fmt.Sprint("posted ", i))
			in.Text, in.RateLimit = text, 0
			if _, err := s.Post(t.Context(), space, in); err != nil {
				t.Fatal(err)
			}
		}
		var sends, posts []time.Duration
		grown := 0
		for i := range rounds {
			began := time.Now()
			send(i)
			sends = append(sends, time.Since(began))
			before := memory(t, s)
			began = time.Now()
			post(i)
			posts = append(posts, time.Since(began))
			grown += memory(t, s) - before
		}
		ratio := float64(median(posts)) / float64(median(sends))
		t.Logf("room of %6d: a post %s, a send %s, %.2f times; %d bytes of memory a post with a text of 500",
			members, median(posts), median(sends), ratio, grown/rounds)
		faultrig.Hold(t, fmt.Sprintf("a post in a room of %d, of what a send takes", members), ratio, 1.5)
		faultrig.Hold(t, "bytes of memory it costs", grown/rounds, 3000)
	}
}

// Every post into a full room drops the oldest one.
func TestAPostIntoAFullRoomCostsLittleMoreThanIntoOneWithSpace(t *testing.T) {
	url := redistest.Start(t)
	const full, rounds = 50, 200
	var rooms []*Store
	for i, posts := range []int{full, 10 * rounds} {
		limits := c3po.DefaultLimits().Unbudgeted()
		limits.RoomPosts, limits.RoomBytes = posts, 1<<30
		s, err := Open(t.Context(), Config{URL: url, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		space := c3po.Space(fmt.Sprint("room-", i))
		if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: "ana"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Join(t.Context(), space, store.JoinStep{Room: "room", Agent: "ana", Visibility: c3po.Public}); err != nil {
			t.Fatal(err)
		}
		rooms = append(rooms, s)
	}
	took := make([][]time.Duration, len(rooms))
	for n := range full + rounds {
		for i, s := range rooms {
			in := postStep(fmt.Sprint("posted ", n))
			in.Text, in.RateLimit = strings.Repeat("x", 40_000), 0
			before := scriptStats(t, url).scripts
			if _, err := s.Post(t.Context(), c3po.Space(fmt.Sprint("room-", i)), in); err != nil {
				t.Fatal(err)
			}
			if n >= full {
				took[i] = append(took[i], scriptStats(t, url).scripts-before)
			}
		}
	}
	faultrig.Hold(t, "Redis' time for a post into a full room, of one into a room with space", float64(median(took[0]))/float64(median(took[1])), 1.5)
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
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
