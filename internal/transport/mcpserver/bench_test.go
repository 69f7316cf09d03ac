package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// both are the ways a call can be answered: by the SDK, and by the front door.
func both(service c3po.Service) map[string]http.Handler {
	s := mcpserver.New(mcpserver.Config{Service: always(service), Version: "1.2.3", Envelope: fixedMark()})
	return map[string]http.Handler{"sdk": s.SDKHandler(), "front": s.Handler()}
}

// BenchmarkCall is one send of 1 KB, without the network and without the store.
func BenchmarkCall(b *testing.B) {
	arguments := fmt.Sprintf(`{"target":"api","message":%q}`, strings.Repeat("x", 1024))
	for _, name := range []string{"sdk", "front"} {
		handler := both(&scripted{})[name]
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			b.Run(name+"/"+era, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, newCall(b.Context(), era, "send_message", arguments, ""))
					if w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		}
	}
}

// BenchmarkWait says how many goroutines a waiting call takes, that of its
// connection included.
func BenchmarkWait(b *testing.B) {
	for _, name := range []string{"sdk", "front"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(goroutinesPerWait(b, name), "goroutines/wait")
			}
		})
	}
}

func goroutinesPerWait(t testing.TB, name string) float64 {
	const waits = 50
	var begun sync.WaitGroup
	begun.Add(waits)
	svc := &scripted{wait: func(ctx context.Context) (c3po.WaitResult, error) {
		begun.Done()
		<-ctx.Done()
		return c3po.WaitResult{}, ctx.Err()
	}}
	server := httptest.NewServer(both(svc)[name])
	defer server.Close()
	before := runtime.NumGoroutine()
	for range waits {
		// A client without goroutines of its own.
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		request := newCall(t.Context(), "2026-07-28", "wait_for_message", `{}`, "")
		out := bufio.NewWriter(conn)
		if err := request.Write(out); err != nil {
			t.Fatal(err)
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	begun.Wait()
	return float64(runtime.NumGoroutine()-before) / waits
}
