package otel_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// before is the variable that names a program to compare with, of a version without all this.
const before = "C3PO_OTEL_BEFORE"

// What a question and its answer cost in processor time, of the coordinator and of Redis, with a
// collector and without. The rounds alternate. With a collector it is counted until the last
// span has arrived, so a few idle seconds are paid for as well; in the long form they are little.
func TestACollectorAddsLittleToTheCostOfASend(t *testing.T) {
	c := startCollector(t, "basic")
	rounds, exchanges := faultrig.Size(3, 5), faultrig.Size(300, 4000)
	took := map[string][]float64{}
	kinds := []string{"off", "on"}
	if os.Getenv(before) != "" {
		kinds = []string{"before", "off", "on"}
	}
	for round := range rounds {
		for i := range kinds {
			kind := kinds[(i+round)%len(kinds)]
			took[kind] = append(took[kind], cost(t, c, kind, exchanges))
		}
	}
	for _, kind := range kinds {
		t.Logf("%s: %.0f µs of processor time for a question and its answer, read and acked: the median of %.0f", kind, median(took[kind]), took[kind])
	}
	faultrig.Hold(t, "the cost of an exchange with a collector, of that without", median(took["on"])/median(took["off"]), 1.15)
	if took["before"] != nil {
		t.Logf("off costs %.3f of before", median(took["off"])/median(took["before"]))
	}
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// cost runs exchanges on a coordinator of its own, and gives the microseconds of each.
func cost(t *testing.T, to *collector, kind string, exchanges int) float64 {
	t.Helper()
	redis, had := redistest.New(t), to.counted(t)
	var c *faultrig.Coordinator
	switch kind {
	case "before":
		c = faultrig.StartOf(t, os.Getenv(before), redis.URL())
	case "on":
		c = faultrig.Start(t, redis.URL(), "--otlp", "grpc://"+to.grpc)
	default:
		c = faultrig.Start(t, redis.URL())
	}
	const pairs = 4
	exchange(t, c, 0, 20)
	began := used(t, c.PID()) + used(t, redis.PID())
	var all sync.WaitGroup
	for pair := range pairs {
		all.Go(func() { exchange(t, c, pair, exchanges/pairs) })
	}
	all.Wait()
	if kind == "on" && !faultrig.Within(longEnough, func() bool { return to.counted(t)-had == 2*(20+exchanges) }) {
		t.Fatalf("%d spans of %d exchanges arrived", to.counted(t)-had, exchanges+20)
	}
	return float64(used(t, c.PID())+used(t, redis.PID())-began) / float64(time.Microsecond) / float64(exchanges)
}

var countText = regexp.MustCompile(`"spans": ([0-9]+)|Traces.*[^a-z]spans=([0-9]+)`)

// counted is how many spans a collector says that it was sent.
func (c *collector) counted(t *testing.T) (all int) {
	t.Helper()
	for _, found := range countText.FindAllStringSubmatch(c.String(), -1) {
		n, err := strconv.Atoi(found[1] + found[2])
		if err != nil {
			t.Fatal(err)
		}
		all += n
	}
	return all
}

// exchange has one agent ask another so many times.
func exchange(t *testing.T, c *faultrig.Coordinator, pair, times int) {
	as := func(id string) *client.Client {
		return client.New(client.Config{URL: c.URL(), AgentID: c3po.AgentID(id + strconv.Itoa(pair)), ClientName: "test"})
	}
	ann, bob := as("ann"), as("bob")
	if _, err := bob.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Error(err)
		return
	}
	for n := range times {
		sent, err := ann.SendMessage(t.Context(), c3po.SendInput{Target: "bob" + strconv.Itoa(pair), Message: fmt.Sprint("question ", n)})
		if err == nil {
			_, err = bob.GetMessages(t.Context(), c3po.GetMessagesInput{})
		}
		var answer c3po.Message
		if err == nil {
			answer, err = bob.Reply(t.Context(), c3po.ReplyInput{MessageID: sent.ID, Response: "answer"})
		}
		if err == nil {
			_, err = ann.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{answer.ID}})
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// used is the processor time of a process, in ticks of ten milliseconds.
func used(t *testing.T, pid int) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	user, err := strconv.Atoi(string(fields[11]))
	if err != nil {
		t.Fatal(err)
	}
	system, err := strconv.Atoi(string(fields[12]))
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
