package faultrig_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// The primary becomes a replica in place and the address moves to the new one, as with a
// managed service: the connections to the old one stay open.
func TestWritesResumeAfterThePrimaryChangesInPlace(t *testing.T) {
	t.Parallel()
	servers := []*redistest.Server{redistest.New(t), redistest.New(t)}
	follow := func(follower, leader *redistest.Server) {
		t.Helper()
		host, port := "NO", "ONE"
		if leader != nil {
			host, port = "127.0.0.1", leader.Addr()[len("127.0.0.1:"):]
		}
		if _, err := redistest.Do(follower.Addr(), "REPLICAOF", host, port); err != nil {
			t.Fatal(err)
		}
	}
	synced := func(s *redistest.Server) bool {
		info, err := redistest.Do(s.Addr(), "INFO", "replication")
		return err == nil && strings.Contains(fmt.Sprint(info), "master_link_status:up")
	}
	follow(servers[1], servers[0])
	eventually(t, "the replica follows", func() bool { return synced(servers[1]) })
	proxy := faultrig.NewProxy(t, servers[0].URL())
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: "redis://" + proxy.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := &scene{space: "roles", hub: hub.New(hub.Config{Store: store}), ids: map[string]c3po.MessageID{}}
	for _, id := range cast() {
		if _, err := s.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 4 {
		old, next := servers[round%2], servers[(round+1)%2]
		if err := s.sends(t.Context(), fmt.Sprint("before ", round)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the replica has everything", func() bool { return synced(next) })
		follow(next, nil)
		follow(old, next)
		if err := s.hub.Ready(t.Context()); !errors.Is(err, c3po.RedisUnavailable) {
			t.Errorf("a coordinator of a replica is ready: %v", err)
		}
		// Cutting the connections can lose the answer to a repeat.
		if err := s.sends(t.Context(), fmt.Sprint("refused ", round)); !errors.Is(err, c3po.RedisUnavailable) && !errors.Is(err, c3po.UnknownOutcome) {
			t.Errorf("a send to a replica ends with %v", err)
		}
		proxy.Lead(next.URL())
		began := time.Now()
		eventually(t, "a send is stored", func() bool { return s.sends(t.Context(), fmt.Sprint("after ", round)) == nil })
		faultrig.Hold(t, "time until writes resume", time.Since(began), 5*time.Second)
		eventually(t, "ready", func() bool { return s.hub.Ready(t.Context()) == nil })
		eventually(t, "the old primary follows", func() bool { return synced(old) })
	}
}
