package faultrig_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// stalledBody sends all of a body but its last bytes, and then nothing.
func stalledBody(path string, stalled *atomic.Int64) func(context.Context, int, net.Conn) error {
	const length = 2<<20 - 64
	most := append([]byte(`{"code":"`), bytes.Repeat([]byte("x"), length-64)...)
	return func(ctx context.Context, _ int, conn net.Conn) error {
		_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nX-Agent-ID: stall\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, length)
		if err != nil {
			return err
		}
		if _, err := conn.Write(most); err != nil {
			return err
		}
		stalled.Add(1)
		<-ctx.Done()
		return ctx.Err()
	}
}

// It does not run beside others, because it measures.
func TestBodiesThatStallBeforeTheirEndNeitherFillTheMemoryNorSlowTheOthers(t *testing.T) {
	const memory, latency = 300, 100 * time.Millisecond // the bodies have 600 MB
	paths := []string{"/api/login", "/api/op/ping"}
	if faultrig.Torture() {
		paths = append(paths, "/api/join", "/mcp", "/agents/register", "/replies", "/api/unregister")
	}
	c := faultrig.Start(t, redistest.Start(t), "--auth", "none")
	var took []time.Duration
	for _, path := range paths {
		ctx, lift := context.WithCancel(t.Context())
		s := &siege{addr: strings.TrimPrefix(c.URL(), "http://")}
		var stalled atomic.Int64
		s.lay(ctx, 300, stalledBody(path, &stalled))
		for laid := time.Now(); time.Since(laid) < 3*time.Second; {
			began := time.Now()
			if !faultrig.Within(aWhile, func() bool { return answers(ctx, c.URL()+"/livez") }) {
				t.Errorf("with bodies that stall at %s it does not answer", path)
				break
			}
			took = append(took, time.Since(began))
		}
		lift()
		s.work.Wait()
		t.Logf("%s: %d bodies stalled, %d connections cut", path, stalled.Load(), s.cut.Load())
	}
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	resident := peakResidentMB(t, c.PID())
	t.Logf("%d calls of /livez, median %v; %d MB at the most", len(took), took[len(took)/2], resident)
	if resident > memory {
		t.Errorf("the coordinator took %d MB, more than %d", resident, memory)
	}
	faultrig.Hold(t, "99th percentile of /livez", faultrig.P99(took), latency)
}

// Nobody needs a token to be given the program.
func TestDownloadsThatNobodyReadsAreFewAndEnd(t *testing.T) {
	if !faultrig.Torture() {
		t.Skip("takes a minute: make torture")
	}
	t.Parallel()
	c := faultrig.Start(t, redistest.Start(t))
	// The name of the program for this system stands in the script.
	script, err := http.Get(c.URL() + "/install")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(script.Body)
	script.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte("c3po-linux-"))
	name, _, _ := strings.Cut(string(text[at:]), " ")
	var given, refused int
	for range 500 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(c.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /install/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", name)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode == http.StatusOK {
			given++
		} else {
			refused++
		}
	}
	if given == 0 || given > 64 {
		t.Errorf("%d downloads at once are served, %d refused", given, refused)
	}
	began := time.Now()
	for {
		answer, err := http.Get(c.URL() + "/install/" + name)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return
		}
		if waited := time.Since(began); waited > time.Minute {
			t.Fatalf("they are still there after %v", waited)
		}
	}
}
