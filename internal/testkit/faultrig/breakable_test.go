package faultrig_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// breakable is three coordinators on one Redis, with a proxy before each of
// them: all that can break by itself can be broken here.
type breakable struct {
	t             *testing.T
	redis         *redistest.Server
	toRedis       *faultrig.Proxy
	coordinators  []*faultrig.Coordinator
	killable      []*faultrig.Coordinator
	toCoordinator []*faultrig.Proxy
}

func newBreakable(t *testing.T, settings string) *breakable {
	t.Helper()
	b := &breakable{t: t, redis: redistest.New(t, "--appendfsync", "always")}
	b.toRedis = faultrig.NewProxy(t, b.redis.URL())
	for range 3 {
		c := faultrig.StartWith(t, "redis://"+b.toRedis.Addr(), settings)
		b.coordinators = append(b.coordinators, c)
		b.toCoordinator = append(b.toCoordinator, faultrig.NewProxy(t, c.URL()))
	}
	b.killable = b.coordinators
	return b
}

// url leads to a coordinator over the network that breaks.
func (b *breakable) url(i int) string {
	return "http://" + b.toCoordinator[i%len(b.toCoordinator)].Addr()
}

func (b *breakable) lossy(i int, id c3po.AgentID) *client.Client { return lossy(b.url(i), id) }

// A breakage is one way of breaking things; count says how often it was used.
type breakage struct {
	name  string
	count int
	do    func()
}

func (b *breakable) ways() []*breakage {
	killed := 0
	return []*breakage{
		{name: "kills of a coordinator", do: func() {
			node := b.killable[killed%len(b.killable)]
			killed++
			node.Kill()
			node.Restart()
		}},
		{name: "resets to the coordinators", do: func() {
			for _, proxy := range b.toCoordinator {
				proxy.Cut()
			}
		}},
		{name: "kills of Redis", do: b.killRedis},
		{name: "answers of each coordinator lost", do: func() {
			for _, proxy := range b.toCoordinator {
				proxy.LoseAnswer(";") // the end of every key of a send
			}
		}},
		{name: "resets to Redis", do: b.toRedis.Cut},
		{name: "answers of Redis lost", do: func() { b.toRedis.LoseAnswer(";") }},
	}
}

// breakThings breaks something every so often, each way in turn, until the work
// is over and each was used; look is called in between. It says what was done.
func (b *breakable) breakThings(every time.Duration, over <-chan struct{}, look func()) string {
	ways := b.ways()
	sample := time.NewTicker(min(every/5, time.Second))
	defer sample.Stop()
	fault := time.NewTicker(every)
	defer fault.Stop()
	next, ended := 0, false
	for (!ended || next < len(ways)) && !b.t.Failed() {
		select {
		case <-over:
			ended, over = true, nil
		case <-sample.C:
			if look != nil {
				look()
			}
		case <-fault.C:
			way := ways[next%len(ways)]
			way.do()
			way.count++
			next++
		}
	}
	if !ended {
		<-over
	}
	var said []string
	for _, way := range ways {
		said = append(said, fmt.Sprintf("%d %s", way.count, way.name))
	}
	return strings.Join(said, ", ")
}

// killRedis also has the log written anew, as Redis does by itself when it has
// doubled: here it is known when that is over.
func (b *breakable) killRedis() {
	b.redis.Kill()
	b.redis.Restart()
	if _, err := redistest.Do(b.redis.Addr(), "BGREWRITEAOF"); err != nil {
		b.t.Errorf("write the log anew: %v", err)
	}
	eventuallyWithin(b.t, time.Minute, "the log is written anew", func() bool {
		info, err := redistest.Do(b.redis.Addr(), "INFO", "persistence")
		text, _ := info.(string)
		return err == nil && strings.Contains(text, "aof_rewrite_in_progress:0") && strings.Contains(text, "aof_rewrite_scheduled:0")
	})
}
