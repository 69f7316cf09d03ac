package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
)

// A page is what a stream writes, while the test reads it.
type page struct {
	mu      sync.Mutex
	header  http.Header
	text    strings.Builder
	flushed int // characters
	done    chan struct{}
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(int)     {}

func (p *page) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(data)
}

func (p *page) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushed = p.text.Len()
}

// stream opens a stream that ends with ctx.
func (s *testServer) stream(ctx context.Context, q question) *page {
	p := &page{header: http.Header{}, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		s.ServeHTTP(p, q.request(ctx))
	}()
	return p
}

// read is what has reached the reader so far.
func (p *page) read() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSuffix(p.text.String()[:p.flushed], "\n\n"), "\n\n")
}

func TestEventsAreStreamedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		s.op(t, "main", "bob", "ping", c3po.None{}, nil)
		ctx, leave := context.WithCancel(t.Context())
		stream := s.stream(ctx, question{path: "/api/events"})
		<-time.After(time.Second)
		now := time.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
		s.op(t, "main", "bob", "set_status", c3po.StatusInput{Status: "busy"}, nil) // changes no mail: no event
		s.op(t, "main", "", "pause", c3po.PauseInput{AgentID: "bob"}, nil)
		want := []string{
			"id: 1:1\nevent: resume\ndata: {\"recovered\":true,\"epoch\":1,\"seq\":1}",
			"id: 1:2\ndata: {\"seq\":2,\"kind\":\"paused\",\"agent\":\"bob\",\"at\":\"" + now + "\"}",
		}
		if diff := cmp.Diff(want, stream.read()); diff != "" {
			t.Errorf("streamed (-want +got):\n%s", diff)
		}
		<-time.After(30 * time.Second)
		want = append(want, ": here", ": here")
		if diff := cmp.Diff(want, stream.read()); diff != "" {
			t.Errorf("after 31 silent seconds (-want +got):\n%s", diff)
		}
		for header, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
			if got := stream.header.Get(header); got != want {
				t.Errorf("%s is %q, want %q", header, got, want)
			}
		}
		leave()
		<-stream.done
	})
}

func TestEventsAreStreamedAsCloudEventsForWhoAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		s.op(t, "main", "bob", "ping", c3po.None{}, nil)
		ctx, leave := context.WithCancel(t.Context())
		stream := s.stream(ctx, question{path: "/api/events?format=cloudevents"})
		<-time.After(time.Second)
		now := time.Now().UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
		s.op(t, "main", "", "pause", c3po.PauseInput{AgentID: "bob"}, nil)
		want := []string{
			"id: 1:1\nevent: resume\ndata: {\"recovered\":true,\"epoch\":1,\"seq\":1}",
			"id: 1:2\ndata: {\"specversion\":\"1.0\",\"id\":\"1:2\",\"source\":\"urn:c3po:space:main\",\"type\":\"dev.c3po.paused\",\"subject\":\"bob\"," +
				"\"time\":\"" + now + "\",\"datacontenttype\":\"application/json\",\"data\":{\"seq\":2,\"kind\":\"paused\",\"agent\":\"bob\",\"at\":\"" + now + "\"}}",
		}
		if diff := cmp.Diff(want, stream.read()); diff != "" {
			t.Errorf("streamed (-want +got):\n%s", diff)
		}
		leave()
		<-stream.done
		s.ask(t, question{path: "/api/events?format=yaml"}).refused(t, http.StatusBadRequest, c3po.InvalidRequest)
	})
}

func TestAStreamResumesByHeaderOrQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		for _, id := range []string{"a", "b", "c"} {
			s.op(t, "main", id, "ping", c3po.None{}, nil)
		}
		for name, test := range map[string]struct {
			ask   question
			first string
			count int
		}{
			"the query":              {question{path: "/api/events?after=1:1"}, "id: 1:1\nevent: resume", 3},
			"the header":             {question{path: "/api/events", header: map[string]string{"Last-Event-ID": "1:2"}}, "id: 1:2\nevent: resume", 2},
			"the header first":       {question{path: "/agent/api/events?after=1:1", header: map[string]string{"Last-Event-ID": "1:2"}}, "id: 1:2\nevent: resume", 2},
			"a place of no epoch":    {question{path: "/api/events?after=7:1"}, "id: 1:3\nevent: reset\ndata: {\"recovered\":false", 1},
			"a place that never was": {question{path: "/api/events?after=1:99"}, "id: 1:3\nevent: reset\ndata: {\"recovered\":false", 1},
			"another space":          {question{path: "/api/events", space: "other"}, "id: 1:0\nevent: resume", 1},
		} {
			ctx, leave := context.WithCancel(t.Context())
			stream := s.stream(ctx, test.ask)
			if got := stream.read(); len(got) != test.count || !strings.HasPrefix(got[0], test.first) {
				t.Errorf("%s: %q, want %d entries, the first %q", name, got, test.count, test.first)
			}
			leave()
			<-stream.done
		}
	})
}

func TestAPlaceThatCannotBeReadIsRefusedInWords(t *testing.T) {
	t.Parallel()
	s := onModel(t)
	for _, after := range []string{"x", "1", "0:1", "1:-1", "1:1:1", ":", "99999999999999999999:1"} {
		s.ask(t, question{path: "/api/events?after=" + after}).refused(t, http.StatusBadRequest, c3po.InvalidRequest)
	}
}

func TestAStreamEndsWithTheWordToComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		stream := s.stream(t.Context(), question{path: "/api/events"})
		synctest.Wait()
		s.hub.Drain()
		<-stream.done
		blocks := stream.read()
		var ms int
		if _, err := fmt.Sscanf(blocks[len(blocks)-1], "retry: %d", &ms); err != nil || ms < 200 || ms > 2000 {
			t.Errorf("the stream ended with %q", blocks)
		}
	})
}
