package rest_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

func TestARequestIsLoggedWithoutWhatIsInIt(t *testing.T) {
	t.Parallel()
	s := onModel(t)
	s.op(t, "main", "bob", "ping", c3po.None{}, nil)
	s.op(t, "main", "ann", "send_message", c3po.SendInput{Target: "bob", Message: "the secret is xyzzy"}, nil)
	s.ask(t, question{path: "/api/pending?cursor=plugh", as: "bob"})
	lines := s.log.lines(t, "request")
	if len(lines) != 3 {
		t.Fatalf("%d lines for 3 requests:\n%s", len(lines), s.log)
	}
	for key, want := range map[string]any{"method": "POST", "route": "POST /api/op/send_message", "status": 200.0, "agent": "ann", "level": "INFO"} {
		if lines[1][key] != want {
			t.Errorf("%s is %v, want %v", key, lines[1][key], want)
		}
	}
	if _, ok := lines[1]["duration"]; !ok {
		t.Error("the line does not say how long it took")
	}
	for _, secret := range []string{"xyzzy", "plugh"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log holds what was in a request: %s", s.log)
		}
	}
}

func TestOnlyFailuresOfOursAreLoggedAsErrors(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	s := onRedis(t, redis.URL())
	s.ask(t, question{path: "/api/op/send_message", as: "ann", body: `{"target":"nobody","message":"x"}`}).
		refused(t, http.StatusNotFound, c3po.AgentNotFound)
	if strings.Contains(s.log.String(), `"level":"ERROR"`) {
		t.Errorf("a refusal is logged as an error: %s", s.log)
	}
	redis.Kill()
	err := s.ask(t, question{path: "/api/op/get_messages", as: "ann", method: "POST"}).
		refused(t, http.StatusServiceUnavailable, c3po.RedisUnavailable)
	lines := s.log.lines(t, "request failed")
	if len(lines) != 1 || lines[0]["code"] != "REDIS_UNAVAILABLE" || lines[0]["cause"] == nil {
		t.Errorf("the failure is logged as %v", lines)
	}
	if strings.Contains(err.Message, "dial") {
		t.Errorf("the caller is told the cause: %q", err.Message)
	}
	if got := s.ask(t, question{path: "/readyz"}); got.status != http.StatusServiceUnavailable {
		t.Errorf("ready without Redis: %s", got.body)
	}
}

func TestAPanicEndsOneRequestOnly(t *testing.T) {
	t.Parallel()
	book := &logbook{}
	calls := 0
	handler := rest.Watch(slog.New(slog.NewJSONHandler(book, nil)), nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 1 {
			panic("boom")
		}
		fmt.Fprint(w, "fine")
	}))
	broken := httptest.NewRecorder()
	handler.ServeHTTP(broken, httptest.NewRequest("GET", "/", nil))
	answer{status: broken.Code, body: broken.Body.Bytes()}.refused(t, http.StatusInternalServerError, c3po.Internal)
	if strings.Contains(broken.Body.String(), "boom") {
		t.Errorf("the caller is told the panic: %s", broken.Body)
	}
	if lines := book.lines(t, "panic"); len(lines) != 1 || lines[0]["panic"] != "boom" || !strings.Contains(fmt.Sprint(lines[0]["stack"]), "watch_test.go") {
		t.Errorf("the panic is logged as %v", lines)
	}
	next := httptest.NewRecorder()
	handler.ServeHTTP(next, httptest.NewRequest("GET", "/", nil))
	if next.Code != http.StatusOK || next.Body.String() != "fine" {
		t.Errorf("the next request was answered %d %q", next.Code, next.Body)
	}
}
