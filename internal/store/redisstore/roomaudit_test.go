package redisstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestFsckFindsRoomsAndAgentsThatDoNotAgree(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{URL: redistest.Start(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	h := hub.New(hub.Config{Store: s, Limits: c3po.DefaultLimits()})
	spaces := 0
	for want, damage := range map[string]func(keys) []string{
		"":                                       nil,
		"'bob' has cursors in the rooms [], but": func(k keys) []string { return []string{"HDEL", k.joined("bob"), "room"} },
		"and does not know it":                   func(k keys) []string { return []string{"HSET", k.agent("bob"), "rooms", ""} },
		"2 members: 1 are listed":                func(k keys) []string { return []string{"ZREM", k.members("room"), "bob"} },
		"1 members of the room room are no agents":   func(k keys) []string { return []string{"ZADD", k.members("room"), "99", "nobody"} },
		"of 1 rooms that are listed 0 exist":         func(k keys) []string { return []string{"HDEL", k.rooms(), "room"} },
		"in the room room, which does not exist":     func(k keys) []string { return []string{"ZREM", k.roomOrder(), "room"} },
		"'carl' was retired and has cursors in the ": func(k keys) []string { return []string{"HSET", k.joined("carl"), "room", "0 0"} },
	} {
		t.Run(want, func(t *testing.T) {
			spaces++
			space := c3po.Space(fmt.Sprintf("s%d", spaces))
			do := func(command ...string) {
				t.Helper()
				if err := s.commands.Do(t.Context(), s.commands.B().Arbitrary(command[0]).Args(command[1:]...).Build()).Error(); err != nil {
					t.Fatal(err)
				}
			}
			for _, id := range []c3po.AgentID{"ana", "bob"} {
				if _, err := s.Register(t.Context(), space, store.RegisterStep{Want: id}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Join(t.Context(), space, store.JoinStep{Room: "room", Agent: id, Visibility: c3po.Public}); err != nil {
					t.Fatal(err)
				}
			}
			do("ZADD", keysOf(space).retired(), "0", "carl")
			if damage != nil {
				do(damage(keysOf(space))...)
			}
			audit, err := h.As(c3po.Caller{Space: space, Role: c3po.RoleAdmin}).Fsck(t.Context(), c3po.None{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(audit.Problems, "\n"); audit.Balanced != (want == "") || !strings.Contains(got, want) {
				t.Errorf("fsck says %q, want %q", got, want)
			}
		})
	}
}
