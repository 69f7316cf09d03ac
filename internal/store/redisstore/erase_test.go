package redisstore_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestAnErasedSpaceIsGoneAndItsNeighbourIsNot(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t)
	for name, nodes := range map[string][]string{"one server": {redistest.New(t).Addr()}, "a cluster": cluster} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "redis://"+strings.Join(nodes, ","), c3po.Limits{}, nil)
			// One name is the beginning of the other.
			for _, space := range []c3po.Space{"erased", "erased-not"} {
				for _, id := range []c3po.AgentID{"ana", "bob"} {
					if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id}); err != nil {
						t.Fatal(err)
					}
				}
				step := store.SendStep{Draft: store.Draft{From: "ana", To: "bob", Kind: c3po.KindMessage, Text: "hello"}, Durability: c3po.OnDisk}
				if _, err := s.Send(t.Context(), space, step); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Erase(t.Context(), "erased"); err != nil {
				t.Fatal(err)
			}
			for _, node := range nodes {
				if left, err := redistest.Do(node, "KEYS", "c3po:1:{erased}:*"); err != nil || len(left.([]any)) > 0 {
					t.Errorf("%s still has %v (%v)", node, left, err)
				}
			}
			spaces, err := s.Spaces(t.Context())
			if diff := cmp.Diff([]c3po.Space{"erased-not"}, spaces); err != nil || diff != "" {
				t.Errorf("the spaces are not what is left (%v):\n%s", err, diff)
			}
			if n, err := s.InboxSize(t.Context(), "erased-not", "bob"); err != nil || n != 1 {
				t.Errorf("the neighbour has %d messages (%v), want 1", n, err)
			}
			// Whoever comes again finds a space that works.
			if _, err := s.Register(t.Context(), "erased", store.RegisterStep{Want: "ana"}); err != nil {
				t.Error(err)
			}
			if spaces, err := s.Spaces(t.Context()); err != nil || len(spaces) != 2 {
				t.Errorf("after a registration the spaces are %v (%v)", spaces, err)
			}
		})
	}
}
