package redisstore

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// worstBar is how long Redis may be busy with one command, at the default limits.
const worstBar = 5 * time.Millisecond

// A crowd is a space in which everything is as large as the limits let it be.
type crowd struct {
	t      *testing.T
	s      *Store
	tight  *Store // one that has no room for ended mail
	watch  *stopwatch
	space  c3po.Space
	serial int

	agents, ended, posts int
	mail                 []c3po.MessageID // unacked, of ana to bob, served to "r"
	tasks                []c3po.MessageID // of ana to the role review, held by carl
	said                 []store.Post     // by ana in the rooms of busy
}

const (
	crowdMail     = 9_800
	crowdSessions = 2_000
	crowdRooms    = 100
)

// Redis times each command by the clock on the wall, and a machine that does other
// work stops any of them now and then. So each case runs several times, and each of its
// commands counts as in the run where it took the least: it is asked how long
// Redis is busy with it, and work of others only adds. REPORT names a folder for the
// table of docs/dev/scale.md.
func TestNoStepHoldsRedisUpAtTheLimits(t *testing.T) {
	faultrig.NeedQuiet(t)
	c := &crowd{t: t, space: "crowd", agents: 1_500, ended: 3_000, posts: 2_000}
	runs := 3
	if faultrig.Torture() {
		c.agents, c.ended, c.posts, runs = 10_000, 100_000, 10_000, 5
	}
	limits := c3po.DefaultLimits().Unbudgeted()
	limits.SenderShare = 1
	redis := redistest.Start(t, "--appendfsync", "no")
	open := func() *Store {
		s, err := Open(t.Context(), Config{URL: redis, Limits: limits})
		c.must(err)
		t.Cleanup(s.Close)
		return s
	}
	c.s = open()
	c.watch = &stopwatch{Client: c.s.commands}
	c.s.commands = c.watch
	limits.EndedBytes = 1
	c.tight = open()
	tight := c.tight.commands
	c.tight.commands = c.watch
	t.Cleanup(tight.Close)
	c.fill()
	var table strings.Builder
	table.WriteString("| operation | at | commands | the longest, µs |\n|---|---|--:|--:|\n")
	for _, w := range c.worst() {
		var least []time.Duration
		for i := range runs + 1 {
			do := w.do
			if w.fresh != nil {
				do = w.fresh()
			}
			c.watch.took, c.watch.on = nil, true
			err := do(t.Context())
			c.watch.on = false
			if err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			if i == 0 {
				continue // in which Redis read the script
			}
			for i, took := range c.watch.took {
				if i == len(least) {
					least = append(least, took)
				}
				least[i] = min(least[i], took)
			}
		}
		took, commands := slices.Max(least), len(least)
		fmt.Fprintf(&table, "| %s | %s | %d | %d |\n", w.name, w.size, commands, took.Microseconds())
		faultrig.Hold(t, fmt.Sprintf("the longest command of %s, %s", w.name, w.size), took, worstBar)
	}
	t.Log("\n" + table.String())
	if folder := os.Getenv("REPORT"); folder != "" {
		if err := os.WriteFile(folder+"/worst.md", []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A stopwatch asks Redis after each command how long it was busy with it.
type stopwatch struct {
	rueidis.Client
	on   bool
	took []time.Duration
}

func (w *stopwatch) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if !w.on {
		return w.Client.Do(ctx, cmd)
	}
	name := strings.ToLower(cmd.Commands()[0])
	w.Client.Do(ctx, w.B().ConfigResetstat().Build())
	answer := w.Client.Do(ctx, cmd)
	stats, err := w.Client.Do(ctx, w.B().Info().Section("commandstats").Build()).ToString()
	_, mine, counted := strings.Cut(stats, "cmdstat_"+name+":calls=1,usec=")
	microseconds, _, _ := strings.Cut(mine, ",")
	if err != nil || !counted {
		panic("Redis does not say what it did: " + stats)
	}
	w.took = append(w.took, time.Duration(atoi(microseconds))*time.Microsecond)
	return answer
}

func (c *crowd) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// each does something n times, several at once.
func (c *crowd) each(n int, do func(i int) error) {
	c.t.Helper()
	var wg sync.WaitGroup
	next := make(chan int)
	failed := make(chan error, n)
	for range 16 {
		wg.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					failed <- err
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	select {
	case err := <-failed:
		c.t.Fatal(err)
	default:
	}
}

// send stores n messages of ana's.
func (c *crowd) send(n int, to c3po.AgentID, thread string) []c3po.MessageID {
	c.t.Helper()
	ids := make([]c3po.MessageID, n)
	c.serial++
	serial := c.serial
	c.each(n, func(i int) error {
		stored, err := c.s.Send(c.t.Context(), c.space, store.SendStep{
			Draft: store.Draft{From: "ana", To: to, Kind: c3po.KindMessage, Thread: thread, Text: fmt.Sprintf("message %d of %d", i, serial),
				ExpectsReply: true, Key: fmt.Sprint(serial, "-", i)},
			Durability: c3po.OnDisk, Queue: to.Queue() != "",
		})
		ids[i] = stored.Message.ID
		return err
	})
	return ids
}

func (c *crowd) register(id c3po.AgentID, capabilities ...string) {
	c.t.Helper()
	_, err := c.s.Register(c.t.Context(), c.space, store.RegisterStep{Want: id, Explicit: true, Profile: store.Profile{
		Capabilities: capabilities, Type: "claude-code", Cwd: "/home/somebody/a/project", Host: "host", Metadata: []byte(`{"model":"a model"}`),
	}})
	c.must(err)
}

func (c *crowd) join(room c3po.RoomName, id c3po.AgentID) error {
	_, err := c.s.Join(c.t.Context(), c.space, store.JoinStep{Room: room, Agent: id, Visibility: c3po.Public})
	return err
}

func (c *crowd) post(room c3po.RoomName, from c3po.AgentID, text string, mentions ...c3po.AgentID) (store.Post, error) {
	posted, err := c.s.Post(c.t.Context(), c.space, store.PostStep{
		Draft:      store.Draft{From: from, To: room.Address(), Room: room, Kind: c3po.KindPost, Text: text, Key: text},
		Durability: c3po.OnDisk, Mentions: mentions,
	})
	return posted.Post, err
}

func member(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("host/m%d", i)) }

func roomOf(i int) c3po.RoomName { return c3po.RoomName(fmt.Sprintf("room-%d", i)) }

func (c *crowd) fill() {
	ctx := c.t.Context()
	for _, id := range []c3po.AgentID{"ana", "bob", "eve", "busy", "zed", "walker"} {
		c.register(id)
	}
	c.register("carl", "review")
	c.register("dora", "review")
	c.each(c.agents, func(i int) error {
		_, err := c.s.Register(ctx, c.space, store.RegisterStep{Want: member(i), Profile: store.Profile{Capabilities: []string{"a", "b"}, Cwd: "/a/folder"}})
		if err == nil {
			err = c.join("hall", member(i))
		}
		return err
	})
	c.mail = c.send(crowdMail, "bob", "one-thread")
	c.served(c.mail, "r")
	c.tasks = c.send(crowdMail, "role/review", "")
	c.each(crowdMail, func(i int) error {
		_, err := c.s.Claim(ctx, c.space, store.ClaimStep{Queue: "role/review", Agent: "carl", ID: c.tasks[i]})
		return err
	})
	for left := c.ended; left > 0; left -= 5_000 {
		for some := range slices.Chunk(c.send(min(left, 5_000), "eve", ""), 200) {
			_, err := c.s.Ack(ctx, c.space, "eve", "", some)
			c.must(err)
		}
	}
	c.must(c.join("mono", "ana"))
	c.must(c.join("mono", "zed"))
	_, err := c.post("mono", "zed", "the first word")
	c.must(err)
	c.each(c.posts, func(i int) error { _, err := c.post("mono", "ana", fmt.Sprint("mono ", i)); return err })
	for i := range crowdRooms {
		c.must(c.join(roomOf(i), "busy"))
		if i > 0 {
			c.must(c.join(roomOf(i), "zed"))
		}
	}
	c.said = make([]store.Post, crowdRooms*20)
	c.each(len(c.said), func(i int) (err error) {
		room := roomOf(1 + i%(crowdRooms-1))
		c.said[i], err = c.post(room, "zed", fmt.Sprint("post ", i))
		return err
	})
	c.must(c.s.WriteNotes(ctx, c.space, store.Notes{Notified: c.notified(0, crowdSessions)}))
	c.must(c.s.WriteNotes(ctx, c.space, store.Notes{ServedPosts: c.servedPosts(0, crowdSessions)}))
}

func (c *crowd) served(ids []c3po.MessageID, reader string) {
	c.t.Helper()
	c.must(c.s.WriteNotes(c.t.Context(), c.space, store.Notes{Served: servedNotes(ids, reader)}))
}

func servedNotes(ids []c3po.MessageID, reader string) (notes []store.ServedNote) {
	for _, id := range ids {
		notes = append(notes, store.ServedNote{ID: id, Reader: reader, Route: "mcp", At: time.Now()})
	}
	return notes
}

func (c *crowd) notified(from, to int) (notes []store.NotifiedNote) {
	for n := from; n < to; n++ {
		notes = append(notes, store.NotifiedNote{Agent: "bob", Reader: fmt.Sprint("session-", n), Route: "hook", Seq: int64(n + 1), At: time.Now()})
	}
	return notes
}

func (c *crowd) servedPosts(from, to int) (notes []store.PostServedNote) {
	for n := from; n < to; n++ {
		said := c.said[n%len(c.said)]
		notes = append(notes, store.PostServedNote{ID: said.Message.ID, Seq: said.Message.Seq, Agent: "busy", Reader: fmt.Sprint("session-", n), At: time.Now()})
	}
	return notes
}

// A worst is one operation where it costs the most. One that can be done only
// once is made anew for each run.
type worst struct {
	name, size string
	do         func(context.Context) error
	fresh      func() func(context.Context) error
}
