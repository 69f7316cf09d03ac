package session

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Urgent mail is read before other mail: one that comes between two pages is on
// neither.
func TestUrgentMailThatComesBetweenTwoPagesIsFoundByTheNextLook(t *testing.T) {
	t.Parallel()
	target, err := url.Parse(faultrig.Start(t, redistest.New(t).URL()).URL())
	if err != nil {
		t.Fatal(err)
	}
	as := func(id c3po.AgentID, address string) *client.Client {
		return client.New(client.Config{URL: address, AgentID: id, ClientName: "test"})
	}
	send := func(text string, priority c3po.Priority) c3po.MessageID {
		sent, err := as("web", target.String()).SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: text, Priority: priority})
		if err != nil {
			t.Error(err)
		}
		return sent.ID
	}
	if _, err := as("api", target.String()).Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two", "three"} {
		send(text, c3po.Normal)
	}
	var urgent c3po.MessageID
	hurry := sync.OnceFunc(func() { urgent = send("four", c3po.Urgent) })
	proxy := httputil.NewSingleHostReverseProxy(target)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in c3po.PendingInput
		if err == nil && strings.HasSuffix(r.URL.Path, "/pending") {
			err = json.Unmarshal(body, &in)
		}
		if err != nil {
			t.Error(err)
		}
		if in.Cursor != "" {
			hurry()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	s := New(Config{Client: as("api", door.URL)})
	found := func(in c3po.PendingInput) (bool, resident.View) {
		t.Helper()
		seen, err := s.look(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(seen.Mail, func(l hook.Letter) bool { return l.ID == urgent }), seen
	}
	here, seen := found(c3po.PendingInput{Limit: 2})
	if here || urgent == "" || len(seen.Mail) != 3 {
		t.Fatalf("the urgent one is %q, and found are %v: the test proves nothing", urgent, seen.Mail)
	}
	if here, next := found(c3po.PendingInput{After: &seen.Seq}); !here {
		t.Errorf("known up to %d, the next look finds %v", seen.Seq, next.Mail)
	}
}

// When a coordinator comes back, the wait for mail and a look that asks whether it is
// there are under way at once. Mail that the look finds first is known to the wait.
func TestMailThatALookFindsBeforeTheWaitDoesWakesTheSession(t *testing.T) {
	t.Parallel()
	question := c3po.Message{ID: "web::api::00000001", FromAgent: "web", Kind: c3po.KindMessage, Message: "Which port?", ExpectsReply: true, Seq: 7}
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(c3po.PendingResult{Pending: c3po.Pending{Count: 1, Messages: []c3po.Message{question}, Seq: 7}})
	}))
	t.Cleanup(door.Close)
	b := New(Config{Client: client.New(client.Config{URL: door.URL, AgentID: "api"}), Asked: "api"})
	lines := make(chan string, 8)
	b.listen(lines, false)
	if !b.relook(t.Context(), time.Minute) {
		t.Fatal("the look failed")
	}
	after := int64(0)
	seen, err := b.look(t.Context(), c3po.PendingInput{After: &after})
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.conversation.add(seen)
	b.mu.Unlock()
	b.wake()
	if len(lines) != 1 {
		t.Errorf("an idle session is told of it %d times, want once", len(lines))
	}
}
