package faultrig_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A siege is all that callers can do to a coordinator who want it to fall, from
// as many connections as they like.
type siege struct {
	addr    string
	work    sync.WaitGroup
	cut     atomic.Int64 // connections the coordinator ended
	refused atomic.Int64 // requests it answered with a refusal
}

// lay runs attack on so many connections, anew whenever it ends.
func (s *siege) lay(ctx context.Context, connections int, attack func(ctx context.Context, n int, conn net.Conn) error) {
	for n := range connections {
		s.work.Go(func() {
			for ctx.Err() == nil {
				conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
				if err != nil {
					continue
				}
				stop := context.AfterFunc(ctx, func() { conn.Close() })
				if err := attack(ctx, n, conn); err != nil && ctx.Err() == nil {
					s.cut.Add(1)
				}
				stop()
				conn.Close()
			}
		})
	}
}

// dribble writes a text a byte at a time, for ever.
func dribble(ctx context.Context, conn net.Conn, text string) error {
	pace := time.NewTicker(200 * time.Millisecond)
	defer pace.Stop()
	for i := 0; ; i++ {
		if _, err := conn.Write([]byte{text[i%len(text)]}); err != nil {
			return err
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func slowHeaders(ctx context.Context, _ int, conn net.Conn) error {
	if _, err := io.WriteString(conn, "GET /api/agents HTTP/1.1\r\nHost: localhost\r\n"); err != nil {
		return err
	}
	return dribble(ctx, conn, "X-Slow: y\r\n")
}

func slowBody(ctx context.Context, n int, conn net.Conn) error {
	_, err := fmt.Fprintf(conn, "POST /api/op/ping HTTP/1.1\r\nHost: localhost\r\nX-Agent-ID: slow-%d\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n", n)
	if err != nil {
		return err
	}
	return dribble(ctx, conn, " ")
}

// halfOpen asks for a stream and never reads it.
func halfOpen(ctx context.Context, n int, conn net.Conn) error {
	path := "/api/events"
	if n%2 == 0 {
		path = "/api/wait?timeout=600"
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nX-Agent-ID: open-%d\r\n\r\n", path, n); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// flood writes a request whose rest never ends, as fast as it is taken.
func (s *siege) flood(head string, more []byte, most int) func(context.Context, int, net.Conn) error {
	return func(_ context.Context, _ int, conn net.Conn) error {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				answer.Body.Close()
				if answer.StatusCode >= 400 {
					s.refused.Add(1)
				}
			}
		}()
		_, err := io.WriteString(conn, head)
		for sent := 0; err == nil && sent < most; sent += len(more) {
			_, err = conn.Write(more)
		}
		<-done
		return err
	}
}

// peakResidentMB is the most memory a process has had at once, in MB.
func peakResidentMB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("the memory of a process is read from /proc: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes >> 10
		}
	}
	t.Fatal("the status names no VmHWM")
	return 0
}

// It does not run beside others, because it measures.
func TestASiegeNeitherFillsTheMemoryNorKeepsHonestCallersWaiting(t *testing.T) {
	const memory, latency = 200, 100 * time.Millisecond
	// Everybody is let in: who has no token would be refused earlier.
	c := faultrig.Start(t, redistest.Start(t), "--auth", "none")
	ann, bob := agent(t, c.URL(), "ann"), agent(t, c.URL(), "bob")

	lasts := time.Duration(faultrig.Size(8, 60)) * time.Second
	ctx, lift := context.WithTimeout(t.Context(), lasts)
	defer lift()
	s := &siege{addr: strings.TrimPrefix(c.URL(), "http://")}
	s.lay(ctx, 300, slowHeaders)
	s.lay(ctx, 300, halfOpen)
	s.lay(ctx, 100, slowBody)
	const post = "POST %s HTTP/1.1\r\nHost: localhost\r\nX-Agent-ID: flood\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
	for _, path := range []string{"/api/op/ping", "/mcp"} {
		s.lay(ctx, 1, s.flood(fmt.Sprintf(post, path, 1<<30), bytes.Repeat([]byte(" "), 64<<10), 1<<30))
		s.lay(ctx, 1, s.flood(fmt.Sprintf(post, path, 1<<20), bytes.Repeat([]byte("["), 64<<10), 1<<20))
	}
	s.lay(ctx, 1, s.flood("GET /livez HTTP/1.1\r\nHost: localhost\r\n", bytes.Repeat([]byte("X-Header: y\r\n"), 1000), 13_000_000))

	took := honestCalls(ctx, t, ann, bob)
	s.work.Wait()
	if len(took) < 20 {
		t.Fatalf("honest callers were answered %d times", len(took))
	}
	slices.Sort(took)
	resident := peakResidentMB(t, c.PID())
	t.Logf("%d honest exchanges: median %v, most %v; %d connections cut, %d requests refused; %d MB at the most",
		len(took), took[len(took)/2], took[len(took)-1], s.cut.Load(), s.refused.Load(), resident)
	faultrig.Hold(t, "99th percentile of honest calls", faultrig.P99(took), latency)
	if resident > memory {
		t.Errorf("the coordinator took %d MB, more than %d", resident, memory)
	}
	if s.cut.Load() < 300 || s.refused.Load() == 0 {
		t.Errorf("only %d connections were cut and %d requests refused: this was no siege", s.cut.Load(), s.refused.Load())
	}
	balanced(t, ann)
	faultrig.Verdict{
		Row: "C5", Holds: []faultrig.Invariant{faultrig.BooksBalance},
		Size:   fmt.Sprintf("%d honest calls, p99 %v; %d MB", len(took), took[len(took)*99/100].Round(time.Millisecond), resident),
		Faults: fmt.Sprintf("%v of 300 slow and 300 half-open connections, 100 slow bodies, bodies of 1 GiB, endless headers, deep JSON", lasts),
	}.Record(t)
}

// honestCalls lets two agents ask and answer until ctx ends, and returns how
// long each call took. Not one may fail.
func honestCalls(ctx context.Context, t *testing.T, ann, bob c3po.Service) []time.Duration {
	t.Helper()
	var took []time.Duration
	timed := func(call func() error) {
		t.Helper()
		began := time.Now()
		if err := call(); err != nil && ctx.Err() == nil {
			t.Fatalf("an honest call failed: %v", err)
		}
		took = append(took, time.Since(began))
	}
	for ctx.Err() == nil {
		var receipt c3po.Receipt
		timed(func() (err error) {
			receipt, err = ann.SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "still there?"})
			return err
		})
		timed(func() error {
			_, err := bob.Reply(t.Context(), c3po.ReplyInput{MessageID: receipt.ID, Response: "yes"})
			return err
		})
		timed(func() error {
			got, err := ann.WaitForMessage(t.Context(), c3po.WaitInput{MessageID: receipt.ID, Timeout: 10})
			if err != nil {
				return err
			}
			_, err = ann.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}})
			return err
		})
	}
	return took
}
