package rest_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/store/storetest"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// A testServer is rest over a hub over a store, and what it logged.
type testServer struct {
	http.Handler
	hub *hub.Hub
	log *logbook
}

// onRedis is the stack as it runs in production, over the Redis at url.
func onRedis(t *testing.T, url string) *testServer {
	t.Helper()
	store, err := redisstore.Open(t.Context(), redisstore.Config{URL: url, Limits: c3po.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return over(t, store)
}

// onModel is the stack over the model of the store, whose clock synctest fakes.
func onModel(t *testing.T) *testServer {
	t.Helper()
	return over(t, storetest.NewModel(c3po.DefaultLimits()))
}

func over(t *testing.T, store store.Store) *testServer {
	t.Helper()
	book := &logbook{}
	log := slog.New(slog.NewJSONHandler(book, nil))
	h := hub.New(hub.Config{Store: store, Version: "1.0.0", Commit: "abcdef"})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := h.Run(ctx); err != nil {
			t.Errorf("the hub ended with %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return &testServer{Handler: rest.New(rest.Config{Hub: h, Auth: auth.New(auth.Config{Mode: auth.None}), Version: "1.0.0", Log: log}), hub: h, log: book}
}

// newSpace is a space no other test has seen: they share one Redis.
func newSpace() string { return "t-" + strings.ToLower(rand.Text()) }

// A question is a request of a test.
type question struct {
	method string // POST if there is a body, else GET
	path   string
	as     string
	space  string
	header map[string]string
	body   string
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask makes a request, and holds the answer against openapi.yaml.
func (s *testServer) ask(t *testing.T, q question) answer {
	t.Helper()
	r := q.request(t.Context())
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, r)
	got := answer{status: recorder.Code, header: recorder.Header(), body: recorder.Body.Bytes()}
	checkAgainstDocument(t, r, got)
	return got
}

func (q question) request(ctx context.Context) *http.Request {
	if q.method == "" {
		q.method = http.MethodGet
		if q.body != "" {
			q.method = http.MethodPost
		}
	}
	r := httptest.NewRequestWithContext(ctx, q.method, q.path, strings.NewReader(q.body))
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{"X-Agent-ID": q.as, "X-C3PO-Space": q.space} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	return r
}

// op asks for an operation and wants it to succeed.
func (s *testServer) op(t *testing.T, space, as, name string, in, out any) answer {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	got := s.ask(t, question{path: "/api/op/" + name, as: as, space: space, body: string(body)})
	if got.status != http.StatusOK {
		t.Fatalf("%s as %s: %d %s", name, as, got.status, got.body)
	}
	if out != nil {
		got.into(t, out)
	}
	return got
}

func (a answer) into(t *testing.T, out any) {
	t.Helper()
	if err := json.Unmarshal(a.body, out); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

// refused checks status and code of an error, and that it says what to do.
func (a answer) refused(t *testing.T, status int, code c3po.Code) *c3po.Error {
	t.Helper()
	var err c3po.Error
	a.into(t, &err)
	if a.status != status || err.Code != code {
		t.Errorf("answer %d %s, want %d %s", a.status, a.body, status, code)
	}
	if err.Message == "" || err.Suggestion == "" {
		t.Errorf("an error without a sentence or a suggestion: %s", a.body)
	}
	return &err
}

// A logbook keeps what was logged.
type logbook struct{ faultrig.Buffer }

// lines are the entries with the given message.
func (l *logbook) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(l.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if entry["msg"] == message {
			found = append(found, entry)
		}
	}
	return found
}
