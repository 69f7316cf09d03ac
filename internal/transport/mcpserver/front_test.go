package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

// No call leaves a goroutine behind, whichever way it ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// diary is a client's side of a connection: what arrived when.
type diary struct {
	header http.Header
	began  time.Time
	status int
	buffer bytes.Buffer
	pages  []page
}

type page struct {
	At   time.Duration
	Text string
}

func newDiary() *diary { return &diary{header: http.Header{}, began: time.Now()} }

func (d *diary) Header() http.Header         { return d.header }
func (d *diary) WriteHeader(status int)      { d.status = status }
func (d *diary) Write(p []byte) (int, error) { return d.buffer.Write(p) }

// Flush sends what was written. The end of the request does so too.
func (d *diary) Flush() {
	if d.buffer.Len() == 0 {
		return
	}
	d.pages = append(d.pages, page{time.Since(d.began), d.buffer.String()})
	d.buffer.Reset()
}

// takes makes a service whose wait takes that long, or as long as its context.
func takes(long time.Duration) *scripted {
	return &scripted{wait: func(ctx context.Context) (c3po.WaitResult, error) {
		select {
		case <-time.After(long):
			return c3po.WaitResult{Outcome: noAnswer()}, nil
		case <-ctx.Done():
			return c3po.WaitResult{}, ctx.Err()
		}
	}}
}

const (
	comment = ": keep-alive\n\n"
	second  = time.Second
)

func TestASlowCallIsHeardAtOnceAndKeptAlive(t *testing.T) {
	t.Parallel()
	progress := func(at string) string {
		return comment + `event: message` + "\n" +
			`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":` + at + `,"message":"still waiting"}}` + "\n\n"
	}
	for name, c := range map[string]struct {
		takes  time.Duration
		accept string
		meta   string
		want   []page
	}{
		"quick":         {20 * time.Millisecond, "*/*", "", []page{{20 * time.Millisecond, "ANSWER"}}},
		"slow":          {2 * second, "*/*", "", []page{{50 * time.Millisecond, comment}, {2 * second, "ANSWER"}}},
		"long":          {40 * second, "*/*", "", []page{{50 * time.Millisecond, comment}, {15 * second, comment}, {30 * second, comment}, {40 * second, "ANSWER"}}},
		"with progress": {40 * second, "*/*", `"progressToken":"p"`, []page{{50 * time.Millisecond, comment}, {15 * second, progress("15")}, {30 * second, progress("30")}, {40 * second, "ANSWER"}}},
		"as JSON":       {20 * second, "application/json", `"progressToken":"p"`, []page{{50 * time.Millisecond, "\n"}, {15 * second, "\n"}, {20 * second, "ANSWER"}}},
	} {
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					d := newDiary()
					r := newCall(t.Context(), version, "wait_for_message", `{}`, c.meta)
					r.Header.Set("Accept", c.accept)
					mcpserver.New(mcpserver.Config{Service: always(takes(c.takes))}).Handler().ServeHTTP(d, r)
					d.Flush()
					last := &d.pages[len(d.pages)-1]
					if !strings.Contains(last.Text, "No response received") || !strings.Contains(last.Text, `"id":7`) {
						t.Errorf("answered with %q", last.Text)
					}
					last.Text = "ANSWER"
					if diff := cmp.Diff(c.want, d.pages); diff != "" {
						t.Errorf("the client heard something else (-want +got):\n%s", diff)
					}
					if d.status != http.StatusOK || d.header.Get("X-Accel-Buffering") != "no" || !strings.Contains(d.header.Get("Cache-Control"), "no-store") {
						t.Errorf("%d %v", d.status, d.header)
					}
				})
			})
		}
	}
}

func TestProgressIsReportedAsTheSDKReportsIt(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, token := range []string{`"p"`, `7`, `-1.5`, `true`, `null`, `["p"]`} {
			synctest.Test(t, func(t *testing.T) {
				s := mcpserver.New(mcpserver.Config{Service: always(takes(50 * second)), Version: "1.2.3"})
				q := question{ask: func(ctx context.Context) *http.Request {
					return newCall(ctx, version, "wait_for_message", `{}`, `"progressToken":`+token)
				}}
				want, got := asks(t, s.SDKHandler(), q), asks(t, s.Handler(), q)
				if diff := cmp.Diff(want.Messages, got.Messages); diff != "" {
					t.Errorf("%s, token %s: other messages (-sdk +front):\n%s", version, token, diff)
				}
			})
		}
	}
}

func TestAPanicBehindTheFrontDoorIsAnAnswer(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			svc := &scripted{wait: func(context.Context) (c3po.WaitResult, error) {
				<-time.After(second)
				panic("out of order")
			}}
			s := mcpserver.New(mcpserver.Config{Service: always(svc), Log: slog.New(slog.NewTextHandler(&log, nil))})
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, newCall(t.Context(), version, "wait_for_message", `{}`, ""))
			if text := w.Body.String(); !strings.Contains(text, `INTERNAL`) || !strings.Contains(text, `"isError":true`) || strings.Contains(text, "out of order") {
				t.Errorf("answered with %s", text)
			}
			if !strings.Contains(log.String(), "out of order") {
				t.Errorf("the log does not name the panic: %s", log.String())
			}
		})
	}
}

// hello is how a client of before 2026-07-28 begins, and the session it is given.
func hello(t *testing.T, endpoint string) (session string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	resp := sent(t, endpoint, newPost(t.Context(), "", "", "", body))
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	return resp.Header.Get("Mcp-Session-Id")
}

// sent sends a request and gives the answer, when its headers are there. The body
// is closed with the test.
func sent(t *testing.T, endpoint string, r *http.Request) *http.Response {
	t.Helper()
	r.Host, r.URL.Host = "", strings.TrimPrefix(endpoint, "http://")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// inBackground sends a request and gives what was answered, or what went wrong.
func inBackground(endpoint string, r *http.Request) <-chan string {
	answer := make(chan string, 1)
	r.Host, r.URL.Host = "", strings.TrimPrefix(endpoint, "http://")
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			all = append(all, err.Error()...)
		}
		answer <- string(all)
	}()
	return answer
}

func TestAnOlderClientIsGivenASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	endpoint := served(t, always(&scripted{})).URL
	first, other := hello(t, endpoint), hello(t, endpoint)
	if len(first) < 20 || first == other {
		t.Errorf("sessions %q and %q", first, other)
	}
	for _, r := range []*http.Request{
		newCall(t.Context(), "2025-11-25", "ping", `{}`, ""),
		newCall(t.Context(), "2026-07-28", "ping", `{}`, ""),
	} {
		if given := sent(t, endpoint, r).Header.Get("Mcp-Session-Id"); given != "" {
			t.Errorf("a call was given the session %q", given)
		}
	}
}

// notice is how an older client takes a call back: in a request of its own.
func notice(ctx context.Context, session, id string) *http.Request {
	r := newPost(ctx, "2025-11-25", "", "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"enough"}}`)
	r.Header.Set("Mcp-Session-Id", session)
	return r
}

func TestAnOlderClientCancelsItsCallByANotice(t *testing.T) {
	t.Parallel()
	for form, accept := range map[string]string{"stream": "*/*", "JSON": "application/json"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			svc, began, ended := waiting(t)
			endpoint := served(t, always(svc)).URL
			session := hello(t, endpoint)
			call := newCall(t.Context(), "2025-11-25", "wait_for_message", `{}`, "")
			call.Header.Set("Mcp-Session-Id", session)
			call.Header.Set("Accept", accept)
			answer := inBackground(endpoint, call)
			arrives(t, began, "the beginning of the wait")

			strangers := map[string]*http.Request{}
			for _, header := range []string{"Mcp-Session-Id", "Authorization", "X-Agent-ID", "X-Session-ID", "X-C3PO-Space", "X-C3PO-Run"} {
				strangers[header] = notice(t.Context(), session, "7")
				strangers[header].Header.Set(header, "somebody-else")
			}
			strangers["no session"] = notice(t.Context(), session, "7")
			strangers["no session"].Header.Del("Mcp-Session-Id")
			strangers["other call"] = notice(t.Context(), session, "8")
			strangers["other kind of number"] = notice(t.Context(), session, `"7"`)
			for who, r := range strangers {
				if status := sent(t, endpoint, r).StatusCode; status != http.StatusAccepted {
					t.Errorf("%s: a notice was answered with %d", who, status)
				}
			}
			select {
			case <-ended:
				t.Fatal("the wait was cancelled by a notice that is not its own")
			default:
			}

			if status := sent(t, endpoint, notice(t.Context(), session, "7")).StatusCode; status != http.StatusAccepted {
				t.Errorf("the notice was answered with %d", status)
			}
			arrives(t, ended, "the end of the service's context")
			if text := strings.ReplaceAll(<-answer, comment, ""); strings.TrimSpace(text) != "" {
				t.Errorf("a cancelled call was answered: %q", text)
			}
			// Some clients cancel also what has ended.
			if status := sent(t, endpoint, notice(t.Context(), session, "7")).StatusCode; status != http.StatusAccepted {
				t.Errorf("a late notice was answered with %d", status)
			}
		})
	}
}

// acted is a service that says whom it acts as and counts what arrived.
type acted struct {
	*scripted
	delivered atomic.Int32
}

func (*acted) ID() c3po.AgentID { return "api-2" }
func (*acted) Epoch() int64     { return 3 }
func (a *acted) Delivered()     { a.delivered.Add(1) }

func TestAnAnswerSaysWhomItsCallerWasTakenForAndIsServedOnceWritten(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		svc := &acted{scripted: takes(60 * time.Millisecond)} // long enough for the headers to go first
		server := served(t, always(svc))
		answer := sent(t, server.URL, newCall(t.Context(), version, "wait_for_message", `{}`, ""))
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Fatal(err)
		}
		server.Close() // waits for the handler, which counts after it has written
		if got := answer.Header.Get(c3po.ActedAsHeader) + " " + answer.Header.Get(c3po.EpochHeader); got != "api-2 3" {
			t.Errorf("%s: acted as %q, want api-2 in epoch 3", version, got)
		}
		if got := svc.delivered.Load(); got != 1 {
			t.Errorf("%s: served %d times, want once", version, got)
		}
	}
}

func TestMailThatCameWithTheNoticeIsNotServed(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	svc := &acted{scripted: &scripted{wait: func(ctx context.Context) (c3po.WaitResult, error) {
		began <- struct{}{}
		<-ctx.Done()
		return c3po.WaitResult{Message: asked(), Unacked: 1, Cursor: 42}, nil
	}}}
	endpoint := served(t, always(svc)).URL
	session := hello(t, endpoint)
	call := newCall(t.Context(), "2025-11-25", "wait_for_message", `{}`, "")
	call.Header.Set("Mcp-Session-Id", session)
	answer := inBackground(endpoint, call)
	arrives(t, began, "the beginning of the wait")
	sent(t, endpoint, notice(t.Context(), session, "7"))
	if text := <-answer; strings.Contains(text, "Which port?") || svc.delivered.Load() != 0 {
		t.Errorf("a call that was taken back was answered with %q, served %d times", text, svc.delivered.Load())
	}
}

// A wait that is cut off in any way ends on the server, and the connection's
// goroutines with it: TestMain looks.
func TestManyCutWaitsAllEnd(t *testing.T) {
	t.Parallel()
	const each = 50
	began, ended := make(chan struct{}, each), make(chan struct{}, each)
	svc := &scripted{wait: func(ctx context.Context) (c3po.WaitResult, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return c3po.WaitResult{}, ctx.Err()
	}}
	endpoint := served(t, always(svc)).URL
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		ctx, hangUp := context.WithCancel(t.Context())
		for range each {
			inBackground(endpoint, newCall(ctx, version, "wait_for_message", `{}`, ""))
		}
		for range each {
			arrives(t, began, "the beginning of a wait")
		}
		hangUp()
		for range each {
			arrives(t, ended, "the end of a wait")
		}
	}
}
