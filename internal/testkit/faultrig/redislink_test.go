package faultrig_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// maxHang is how long a handler may take, whatever Redis does.
const maxHang = 3 * time.Second

// A harm is one way in which the network to Redis fails. It begins, it may last,
// and then all is well again.
type harm struct {
	name  string
	begin func(*faultrig.Proxy)
	lasts func(n int) time.Duration // the nth time; nil if work goes on under it, or it is over at once
	end   func(*faultrig.Proxy)
}

// longHoleEvery is which of the black holes of a night last for a minute.
const longHoleEvery = 10

func harms() []harm {
	delayed := func(by time.Duration) harm {
		return harm{
			// Half of it each way.
			name: fmt.Sprintf("slow-%d", by.Milliseconds()), begin: func(p *faultrig.Proxy) { p.Delay(by / 2) },
			end: func(p *faultrig.Proxy) { p.Delay(0) },
		}
	}
	hole := func(n int) time.Duration {
		if faultrig.Night() && n%longHoleEvery == 0 {
			return time.Minute
		}
		return time.Second
	}
	return []harm{
		delayed(50 * time.Millisecond), delayed(200 * time.Millisecond), delayed(time.Second),
		{name: "reset", begin: (*faultrig.Proxy).Reset},
		{name: "hole", begin: (*faultrig.Proxy).BlackHole, lasts: hole, end: (*faultrig.Proxy).Heal},
		// The next send of this harm's writers, which the mark is in the name of.
		{name: "unanswered", begin: func(p *faultrig.Proxy) { p.LoseAnswer("unanswered-writer") }},
	}
}

func TestWhateverTheNetworkToRedisDoesNothingIsLostOrDoubledAndNobodyHangs(t *testing.T) {
	t.Parallel()
	times := faultrig.Size(2, 200)
	redis := redistest.New(t)
	var all sync.WaitGroup
	var links []*hurtLink
	for _, h := range harms() {
		proxy := faultrig.NewProxy(t, redis.URL())
		link := &hurtLink{t: t, harm: h, proxy: proxy, url: faultrig.Start(t, "redis://"+proxy.Addr()).URL()}
		agent(t, link.url, link.reader())
		links = append(links, link)
		all.Go(func() { link.hurt(times) })
	}
	all.Wait()
	if t.Failed() {
		return
	}
	verdict := faultrig.Verdict{Row: "C1", Holds: []faultrig.Invariant{
		faultrig.NothingStoredIsLost, faultrig.AckIsFinal, faultrig.OneMessageAKey, faultrig.OrderIsKept, faultrig.BooksBalance, faultrig.UnknownIsSaid,
	}}
	stored := 0
	for _, link := range links {
		history := link.rec.History()
		report := faultrig.Check(history)
		longest := slices.MaxFunc(history, func(a, b faultrig.Call) int { return cmp.Compare(a.Returned.Sub(a.Invoked), b.Returned.Sub(b.Invoked)) })
		t.Logf("%s: %d attempts failed and %d are unknown; well again after %v; %s", link.harm.name,
			link.rec.Count("send", faultrig.Failed), link.rec.Count("send", faultrig.Unknown), link.recovery.Round(time.Millisecond), report)
		faultrig.Hold(t, link.harm.name+": the longest call, which is a "+longest.Op, longest.Returned.Sub(longest.Invoked), maxHang)
		if len(report.Violations) > 0 || report.InDoubt > 0 {
			t.Errorf("%s: %s", link.harm.name, report)
		}
		if link.harm.name == "unanswered" && link.proxy.Lost() != times {
			t.Errorf("%d answers were lost, want %d", link.proxy.Lost(), times)
		}
		stored += report.Stored
		verdict.Lost, verdict.Doubled = verdict.Lost+report.Count(faultrig.Lost), verdict.Doubled+report.Count(faultrig.Doubled)
		verdict.Recovery = max(verdict.Recovery, link.recovery)
	}
	if audit := balanced(t, agent(t, links[0].url, "auditor")); audit.Sent != int64(stored) {
		t.Errorf("%d messages were stored, %d as their senders know", audit.Sent, stored)
	}
	verdict.Size = fmt.Sprintf("%d sends", stored)
	hole := "black hole of 1 s"
	if faultrig.Night() {
		hole += fmt.Sprintf(" (every %dth of a minute)", longHoleEvery)
	}
	verdict.Faults = fmt.Sprintf("%d each of: +50, +200 and +1,000 ms, reset, %s, answer lost after the deed", times, hole)
	verdict.Record(t)
}

// A hurtLink is one coordinator with a way to Redis of its own, and those who use
// it meanwhile.
type hurtLink struct {
	t     *testing.T
	harm  harm
	proxy *faultrig.Proxy
	url   string

	rec      faultrig.Recorder
	stored   atomic.Int64
	recovery time.Duration
}

func (l *hurtLink) reader() c3po.AgentID { return c3po.AgentID(l.harm.name + "-reader") }

// linkWriters are how many send at the same time.
const linkWriters = 4

// hurt does it so many times, under load, and returns when all was read.
func (l *hurtLink) hurt(times int) {
	ctx := l.t.Context()
	writes, stop := context.WithCancel(ctx)
	defer stop()
	var writing, reading sync.WaitGroup
	for w := range linkWriters {
		writing.Go(func() { l.write(ctx, writes, c3po.AgentID(fmt.Sprintf("%s-writer-%d", l.harm.name, w))) })
	}
	reads, stopReading := context.WithCancel(ctx)
	defer stopReading()
	reading.Go(func() { l.read(ctx, reads) })
	// Every script has run once: the first time it has to be sent, too.
	if !faultrig.Within(time.Minute, func() bool { return l.rec.Count("ack", faultrig.OK) > 0 }) {
		l.t.Errorf("%s: nothing is acked", l.harm.name)
	}
	for n := range times {
		// One more than can be under way: at least one began after all was well.
		if !l.more(linkWriters + 1) {
			l.t.Errorf("%s %d: nothing is stored any more", l.harm.name, n)
			break
		}
		l.harm.begin(l.proxy)
		switch {
		case l.harm.lasts != nil:
			faultrig.Pass(l.t.Context(), l.harm.lasts(n))
		case !l.more(linkWriters + 1):
			l.t.Errorf("%s %d: nothing is stored under it", l.harm.name, n)
		}
		if l.harm.end == nil {
			continue
		}
		l.harm.end(l.proxy)
		began := time.Now()
		if l.more(1) {
			l.recovery = max(l.recovery, time.Since(began))
		}
	}
	stop()
	writing.Wait()
	stopReading()
	reading.Wait()
	if err := drain(ctx, &l.rec, lossy(l.url, l.reader()), l.reader()); err != nil {
		l.t.Errorf("%s: %v", l.harm.name, err)
	}
}

// more waits until so many more messages are stored.
func (l *hurtLink) more(n int64) bool {
	want := l.stored.Load() + n
	return faultrig.Within(time.Minute, func() bool { return l.stored.Load() >= want })
}

// write sends until it is told to stop, and leaves nothing in doubt.
func (l *hurtLink) write(ctx, until context.Context, id c3po.AgentID) {
	svc := lossy(l.url, id)
	for n := 0; until.Err() == nil; n++ {
		in := c3po.SendInput{Target: string(l.reader()), Message: fmt.Sprintf("%s says %d", id, n), ClientKey: fmt.Sprintf("%s-%d", id, n)}
		if _, err := l.rec.Send(ctx, svc, id, in); err != nil {
			l.t.Errorf("%s: %v", id, err)
			return
		}
		l.stored.Add(1)
	}
}

// read reads and acks what comes, until it is told to stop. Like the writers it
// repeats by itself, so that each call is one request.
func (l *hurtLink) read(ctx, until context.Context) {
	svc := lossy(l.url, l.reader())
	for until.Err() == nil {
		if _, err := svc.Pending(until, c3po.PendingInput{Timeout: 30, Limit: 1}); err != nil {
			continue
		}
		if err := drain(ctx, &l.rec, svc, l.reader()); err != nil {
			l.t.Errorf("%s: %v", l.reader(), err)
			return
		}
	}
}
