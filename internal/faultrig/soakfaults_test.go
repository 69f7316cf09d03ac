package faultrig_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/redistest"
)

// A breakage is one way of breaking things; count says how often it was used.
type breakage struct {
	name  string
	count int
	do    func()
}

// breakThings breaks something every so often, each way in turn, until all is
// written and each was used, and takes the vitals in between. It says what was done.
//
// The first coordinator is never killed: it lives through all that happens to
// Redis and to the network, and its memory is what is measured.
func (s *soak) breakThings(every time.Duration, written <-chan struct{}, v *vitals) string {
	killed := 0
	ways := []*breakage{
		{name: "kills of a coordinator", do: func() {
			killed++
			node := s.coordinators[1+killed%(soakNodes-1)]
			node.Kill()
			node.Restart()
		}},
		{name: "resets to the coordinators", do: func() {
			for _, proxy := range s.toCoordinator {
				proxy.Cut()
			}
		}},
		{name: "kills of Redis", do: s.killRedis},
		{name: "answers of coordinators lost", do: func() {
			for _, proxy := range s.toCoordinator {
				proxy.LoseAnswer(";") // the end of every key of a send
			}
		}},
		{name: "resets to Redis", do: s.toRedis.Cut},
		{name: "answers of Redis lost", do: func() { s.toRedis.LoseAnswer(";") }},
	}
	sample := time.NewTicker(min(every/5, time.Second))
	defer sample.Stop()
	fault := time.NewTicker(every)
	defer fault.Stop()
	next, over := 0, false
	for !over || next < len(ways) {
		select {
		case <-written:
			over, written = true, nil
		case <-sample.C:
			v.take(float64(s.stored.Load())/float64(s.messages), s.coordinators[0].URL(), s.redis.Addr())
		case <-fault.C:
			way := ways[next%len(ways)]
			way.do()
			way.count++
			next++
		}
		if s.t.Failed() {
			break
		}
	}
	if !over {
		<-written
	}
	var said []string
	for _, way := range ways {
		said = append(said, fmt.Sprintf("%d %s", way.count, way.name))
	}
	return strings.Join(said, ", ")
}

// killRedis also has the log written anew, as Redis does by itself when it has
// doubled: here it is known when that is over.
func (s *soak) killRedis() {
	s.redis.Kill()
	s.redis.Restart()
	if _, err := redistest.Do(s.redis.Addr(), "BGREWRITEAOF"); err != nil {
		s.t.Errorf("write the log anew: %v", err)
	}
	eventuallyWithin(s.t, time.Minute, "the log is written anew", func() bool {
		info, err := redistest.Do(s.redis.Addr(), "INFO", "persistence")
		text, _ := info.(string)
		return err == nil && strings.Contains(text, "aof_rewrite_in_progress:0") && strings.Contains(text, "aof_rewrite_scheduled:0")
	})
}
