package faultrig_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// What tells the test binary to be a worker, which, and whether it is told when
// to go on between a task and its ack.
const (
	workerOf   = "FAULTRIG_WORKER_OF"
	workerID   = "FAULTRIG_WORKER"
	workerHeld = "FAULTRIG_WORKER_HELD"
)

// work is a worker: it takes tasks of the queue and acks each, and says so.
func work(url string, id c3po.AgentID) error {
	ctx := context.Background()
	c := client.New(client.Config{URL: url, AgentID: id})
	if _, err := c.RegisterAgent(ctx, c3po.RegisterInput{Capabilities: []string{"dig"}}); err != nil {
		return err
	}
	orders := bufio.NewReader(os.Stdin)
	for after := int64(0); ; {
		got, err := c.WaitForMessage(ctx, c3po.WaitInput{Timeout: 1, After: &after})
		if err != nil {
			return err
		}
		after = got.Cursor
		if got.Outcome != nil {
			continue
		}
		fmt.Println("got", got.ID)
		if os.Getenv(workerHeld) != "" {
			if _, err := orders.ReadString('\n'); err != nil {
				return err
			}
		}
		faultrig.Pass(ctx, rand.N(50*time.Millisecond)) // digging
		done, err := c.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}})
		if err != nil {
			return err
		}
		for word, ids := range map[string][]c3po.MessageID{
			"acked": done.Acked, "already": done.Already, "unknown": done.Unknown, "not_yours": done.NotYours, "stale": done.Stale,
		} {
			for _, id := range ids {
				fmt.Println(word, id)
			}
		}
	}
}

// A crew is workers in processes of their own and what they said.
type crew struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	said   map[string]int // "word id" to how often
	spoken int
}

// A worker is one of them.
type worker struct {
	cmd    *exec.Cmd
	orders interface{ Write([]byte) (int, error) }
	ended  chan struct{}
}

func (c *crew) start(id c3po.AgentID, env ...string) *worker {
	c.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(append(os.Environ(), workerOf+"="+c.url, workerID+"="+string(id)), env...)
	orders, err := cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	w := &worker{cmd: cmd, orders: orders, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.mu.Lock()
			c.said[lines.Text()]++
			c.spoken++
			c.mu.Unlock()
		}
		_ = cmd.Wait() // it was killed
	}()
	return w
}

func (w *worker) kill() {
	_ = w.cmd.Process.Kill()
	<-w.ended
}

func (c *crew) count(word string) (tasks, times int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line, n := range c.said {
		if strings.HasPrefix(line, word+" ") {
			tasks, times = tasks+1, times+n
		}
	}
	return tasks, times
}

func digging(t *testing.T, lease time.Duration) (*crew, *client.Client) {
	t.Helper()
	limits := noLimits()
	limits.InboxMessages, limits.SenderShare, limits.ClaimLease = 20_000, 1, lease
	url := inProcess(t, server.Config{RedisURL: redistest.Start(t), Limits: limits})
	return &crew{t: t, url: url, said: map[string]int{}}, agent(t, url, "foreman")
}

func TestEveryTaskOfAQueueIsAckedOnceWhileWorkersAreKilled(t *testing.T) {
	t.Parallel()
	workers, tasks := faultrig.Size(8, 50), faultrig.Size(300, 10_000)
	c, foreman := digging(t, 2*time.Second)
	var crewed []*worker
	for i := range workers {
		crewed = append(crewed, c.start(c3po.AgentID(fmt.Sprintf("w%d", i))))
	}
	defer func() {
		for _, w := range crewed {
			w.kill()
		}
	}()
	members := func() int {
		list, err := foreman.ListAgents(t.Context(), c3po.ListAgentsInput{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Agents) - 1
	}
	eventually(t, "all workers are there", func() bool { return members() == workers })

	began, kills := time.Now(), 0
	for i := range tasks {
		if _, err := foreman.SendMessage(t.Context(), c3po.SendInput{Target: "role:dig", Message: fmt.Sprint("task ", i)}); err != nil {
			t.Fatal(err)
		}
		// One dies now and then. Every second one comes back as another agent, so
		// that only the lease gives back what it held.
		if i%(tasks/(2*workers)) == 0 {
			n := rand.IntN(workers)
			crewed[n].kill()
			id := c3po.AgentID(fmt.Sprintf("w%d", n))
			if kills++; kills%2 == 1 {
				id = c3po.AgentID(fmt.Sprintf("w%d-after-%d", n, i))
			}
			crewed[n] = c.start(id)
		}
	}
	var audit c3po.Audit
	eventuallyWithin(t, 3*time.Minute, "all tasks are acked", func() bool {
		var err error
		audit, err = foreman.Fsck(t.Context(), c3po.None{})
		return err == nil && audit.Acked == int64(tasks)
	})
	t.Logf("%d tasks, %d workers, %d killed, %v", tasks, workers, kills, time.Since(began).Round(time.Millisecond))
	if !audit.Balanced || audit.Pending != 0 || audit.Dead != 0 {
		t.Errorf("books: %+v", audit)
	}
	got, times := c.count("got")
	acked, ackedTimes := c.count("acked")
	t.Logf("%d tasks were given %d times, %d acks were heard of", got, times, ackedTimes)
	if times == tasks {
		t.Error("nobody was killed over a task: this shows nothing")
	}
	if acked != ackedTimes {
		t.Errorf("%d tasks were acked %d times", acked, ackedTimes)
	}
	for _, word := range []string{"unknown", "not_yours"} {
		if n, _ := c.count(word); n > 0 {
			t.Errorf("%d acks were answered with %s", n, word)
		}
	}
}

func TestAStaleWorkersAckIsRefused(t *testing.T) {
	t.Parallel()
	c, foreman := digging(t, time.Second)
	slow := c.start("slow", workerHeld+"=1")
	defer slow.kill()
	members := func() bool {
		_, err := foreman.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "slow"})
		return err == nil
	}
	eventually(t, "the slow worker is there", members)
	task, err := foreman.SendMessage(t.Context(), c3po.SendInput{Target: "role:dig", Message: "a hole"})
	if err != nil {
		t.Fatal(err)
	}
	saw := func(word string) func() bool {
		return func() bool {
			n, _ := c.count(word)
			return n == 1
		}
	}
	eventually(t, "the slow worker has the task", saw("got"))
	quick := c.start("quick")
	defer quick.kill()
	eventually(t, "the quick worker acked it", saw("acked"))
	if _, err := slow.orders.Write([]byte("go on\n")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the slow worker was refused", saw("stale"))
	trace, err := foreman.Trace(t.Context(), c3po.MessageInput{MessageID: task.ID})
	if err != nil {
		t.Fatal(err)
	}
	if trace.Claimed == nil || trace.Claimed.By != "quick" || trace.State != c3po.StateAcked {
		t.Errorf("trace: %+v", trace)
	}
}

// Sessions of c3po wait all the time, so a member that sends its queue a task is often the
// first in line for it. If the wake ended there, the next member would sleep until its own
// next look, 15 s later.
func TestAMemberThatHandsWorkToItsOwnQueueWakesTheNext(t *testing.T) {
	t.Parallel()
	const patience, maxLate = 10 * time.Second, 3
	rounds := faultrig.Size(20, 100)
	redis := redistest.Start(t)
	url := inProcess(t, server.Config{RedisURL: redis, Limits: noLimits()})
	boss, first, second := agent(t, url, "boss"), agent(t, url, "first"), agent(t, url, "second")
	for _, member := range []*client.Client{first, second} {
		if _, err := member.RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"dig"}}); err != nil {
			t.Fatal(err)
		}
	}
	open := func(member *client.Client, timeout time.Duration, waits int64) <-chan c3po.WaitResult {
		t.Helper()
		results := make(chan c3po.WaitResult, 1)
		go func() {
			got, err := member.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: int(timeout.Seconds())})
			if err != nil && t.Context().Err() == nil {
				t.Errorf("wait: %v", err)
			}
			results <- got
		}()
		asleep(t, url, waits)
		return results
	}
	send := func(from *client.Client, to, text string) c3po.MessageID {
		t.Helper()
		sent, err := from.SendMessage(t.Context(), c3po.SendInput{Target: to, Message: text})
		if err != nil {
			t.Fatal(err)
		}
		return sent.ID
	}
	ack := func(member *client.Client, id c3po.MessageID) {
		t.Helper()
		if _, err := member.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{id}}); err != nil {
			t.Fatal(err)
		}
	}
	var took []time.Duration
	late := 0
	for round := range rounds {
		own := open(first, 10*time.Minute, 1)
		next := open(second, patience, 2)
		began := time.Now()
		task := send(first, "role:dig", fmt.Sprint("task ", round))
		if got := <-next; got.ID != task {
			t.Fatalf("round %d: the second member got %+v, want %s", round, got, task)
		}
		// A wait that nobody wakes looks once more when its time is over.
		if took = append(took, time.Since(began)); took[round] >= patience {
			if late++; late == maxLate {
				t.Fatalf("in %d of %d rounds nobody woke the second member", late, round+1)
			}
		}
		ack(second, task)
		note := send(boss, "first", "enough")
		if got := <-own; got.ID != note {
			t.Fatalf("the member that sent the task got %+v of it", got)
		}
		ack(first, note)
	}
	slices.Sort(took)
	t.Logf("%d tasks, of which the other member heard after %s (median), %s at most; %d were late", rounds, median(took), took[len(took)-1], late)
	faultrig.Hold(t, "until the next member of a queue hears of a task", took[len(took)-1], 500*time.Millisecond)
}
