package faultrig_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// An audience reads the events of a space on bare connections, which cost this
// process little.
type audience struct {
	events, bytes atomic.Int64
	stood         atomic.Int64 // streams that have begun
	readers       sync.WaitGroup
	connections   []net.Conn
}

func (a *audience) join(t *testing.T, url string) {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(connection, "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	a.connections = append(a.connections, connection)
	a.readers.Go(func() {
		lines := bufio.NewScanner(connection)
		began := false
		for lines.Scan() {
			line := lines.Text()
			if began {
				a.bytes.Add(int64(len(line)) + 1)
			}
			switch {
			case !strings.HasPrefix(line, "data: "):
			case began:
				a.events.Add(1)
			default: // where it goes on from
				began = true
				a.stood.Add(1)
			}
		}
	})
}

func (a *audience) leave() {
	for _, connection := range a.connections {
		_ = connection.Close()
	}
	a.readers.Wait()
}

// measured reads numbers that a coordinator tells of itself.
func measured(t *testing.T, url string, names ...string) (values []float64) {
	t.Helper()
	response, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	found := map[string]float64{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok {
			found[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	for _, name := range names {
		if _, ok := found[name]; !ok {
			t.Skipf("this system does not tell %s", name)
		}
		values = append(values, found[name])
	}
	return values
}

// What an open dashboard costs its coordinator: processor time and bytes for each
// event, and memory. The same sends without anybody who watches are taken off.
func TestWhatAWatcherOfEventsCosts(t *testing.T) {
	watchers := faultrig.Size(20, 200)
	c := faultrig.Start(t, redistest.Start(t))
	const recipients = 10
	for n := range recipients {
		agent(t, c.URL(), recipient(n))
	}
	sender := agent(t, c.URL(), "ann")
	// The same sends, one by one or as fast as they go; what the coordinator has
	// used for them is the answer.
	send := func(events int, pace time.Duration, onEvent func()) time.Duration {
		t.Helper()
		before := measured(t, c.URL(), "process_cpu_seconds_total")
		sendAll(t, sender, events, recipients, pace)
		onEvent()
		return time.Duration((measured(t, c.URL(), "process_cpu_seconds_total")[0] - before[0]) * float64(time.Second))
	}
	kinds := []struct {
		name   string
		events int
		pace   time.Duration
		alone  time.Duration
	}{
		{"one by one", faultrig.Size(50, 1000), 20 * time.Millisecond, 0},
		{"in a burst", faultrig.Size(200, 4000), 0, 0},
	}
	for i := range kinds {
		kinds[i].alone = send(kinds[i].events, kinds[i].pace, func() {})
	}

	memory := measured(t, c.URL(), "process_resident_memory_bytes")
	var all audience
	defer all.leave()
	for range watchers {
		all.join(t, c.URL())
	}
	eventually(t, "all of them watch", func() bool { return all.stood.Load() == int64(watchers) })
	for _, kind := range kinds {
		expected := all.events.Load() + int64(watchers*kind.events)
		bytes := all.bytes.Load()
		var last time.Duration
		used := send(kind.events, kind.pace, func() {
			sent := time.Now()
			eventually(t, "everybody has every event", func() bool { return all.events.Load() >= expected })
			last = time.Since(sent)
		})
		each := int64(watchers * kind.events)
		faultrig.Hold(t, fmt.Sprintf("events %s to %d watchers: processor time for one event and watcher", kind.name, watchers), max(0, used-kind.alone)/time.Duration(each), 50*time.Microsecond)
		faultrig.Hold(t, "  bytes for one event and watcher", (all.bytes.Load()-bytes)/each, 400)
		faultrig.Hold(t, "  until everybody has the last event", last, time.Second)
	}
	grown := measured(t, c.URL(), "process_resident_memory_bytes")[0] - memory[0]
	if each := int64(grown) / int64(watchers) >> 10; faultrig.Torture() {
		faultrig.Hold(t, "memory of one watcher, in KiB", each, 150)
	} else {
		t.Logf("memory of one watcher: %d KiB, of few and with all else that grew", each)
	}
}

func recipient(n int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("bob-%d", n)) }

func sendAll(t *testing.T, from *client.Client, events, recipients int, pace time.Duration) {
	t.Helper()
	for n := range events {
		faultrig.Pass(t.Context(), pace)
		if _, err := from.SendMessage(t.Context(), c3po.SendInput{Target: string(recipient(n % recipients)), Message: "Which port?"}); err != nil {
			t.Fatal(err)
		}
	}
}
