package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/person/notify"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// An ntfyServer speaks as much of ntfy's documented protocol as a notice with buttons
// needs. It is a fake: the real program cannot be had as a module or a package.
type ntfyServer struct {
	*httptest.Server
	mu       sync.Mutex
	news     chan struct{} // closed when something was published
	messages map[string][]ntfyMessage
}

type ntfyMessage struct {
	ID      string       `json:"id"`
	Time    int64        `json:"time"`
	Event   string       `json:"event"`
	Topic   string       `json:"topic"`
	Title   string       `json:"title,omitempty"`
	Message string       `json:"message"`
	Actions []ntfyAction `json:"actions,omitempty"`
}

type ntfyAction struct {
	Action, Label, URL, Method, Body string
	Clear                            bool
}

func newNtfy(t *testing.T) *ntfyServer {
	n := &ntfyServer{news: make(chan struct{}), messages: map[string][]ntfyMessage{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{topic}", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := ntfyMessage{Time: time.Now().Unix(), Event: "message", Topic: r.PathValue("topic"), Title: r.Header.Get("Title"), Message: string(body)}
		if actions := r.Header.Get("Actions"); actions != "" {
			if err := json.Unmarshal([]byte(actions), &m.Actions); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		m.ID = fmt.Sprintf("m%d", len(n.messages[m.Topic]))
		n.messages[m.Topic] = append(n.messages[m.Topic], m)
		close(n.news)
		n.news = make(chan struct{})
	})
	mux.HandleFunc("GET /{topic}/json", func(w http.ResponseWriter, r *http.Request) {
		lines := json.NewEncoder(w)
		_ = lines.Encode(ntfyMessage{Event: "open"})
		given := 0
		for {
			n.mu.Lock()
			news, all := n.news, n.messages[r.PathValue("topic")]
			n.mu.Unlock()
			if since := r.URL.Query().Get("since"); given == 0 {
				given = slices.IndexFunc(all, func(m ntfyMessage) bool { return m.ID == since }) + 1
			}
			for _, m := range all[given:] {
				_ = lines.Encode(m)
				given++
			}
			w.(http.Flusher).Flush()
			select {
			case <-news:
			case <-r.Context().Done():
				return
			}
		}
	})
	n.Server = httptest.NewServer(mux)
	t.Cleanup(n.CloseClientConnections)
	t.Cleanup(n.Close)
	return n
}

func (n *ntfyServer) on(topic string) []ntfyMessage {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.messages[topic])
}

// await gives the first message on a topic that holds.
func (n *ntfyServer) await(t *testing.T, topic string, holds func(ntfyMessage) bool) (found ntfyMessage) {
	t.Helper()
	if !faultrig.Within(longEnough, func() bool {
		for _, m := range n.on(topic) {
			if holds(m) {
				found = m
				return true
			}
		}
		return false
	}) {
		t.Fatalf("it is not among %+v", n.on(topic))
	}
	return found
}

// press does what a phone does when a button is touched.
func (a ntfyAction) press(t *testing.T) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), a.Method, a.URL, strings.NewReader(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the press is answered with %s", answer.Status)
	}
}

const buttonSecret = "a secret of enough characters"

func buttons(n *ntfyServer, redis string) server.Config {
	return server.Config{RedisURL: redis, Notify: notify.Config{
		Ntfy: n.URL + "/team", Secret: buttonSecret, Bodies: true, Buttons: true, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}}
}

// ask asks the person and gives the notice that came of it.
func (n *ntfyServer) ask(t *testing.T, c *coordinator, from string, choices ...string) (c3po.MessageID, ntfyMessage) {
	t.Helper()
	var asked c3po.Escalation
	c.must(t, from, "escalate_to_human", c3po.EscalateInput{Reason: "which one?", Choices: choices}, &asked)
	return asked.MessageID, n.await(t, "team", func(m ntfyMessage) bool {
		return len(m.Actions) > 0 && strings.Contains(m.Message, string(asked.MessageID))
	})
}

func TestAPersonAnswersFromTheirPhoneAndTheAgentGoesOn(t *testing.T) {
	t.Parallel()
	n := newNtfy(t)
	c := start(t, buttons(n, redistest.Start(t)))
	// A choice that reads like the number of another one, and one that no header could carry.
	id, notice := n.ask(t, c, "api", "2", "Ja, größer 🚀 \"now\"", "no", "a fourth has no button")
	if len(notice.Actions) != 3 || notice.Actions[1].Label != "Ja, größer 🚀 \"now\"" || !notice.Actions[0].Clear {
		t.Fatalf("the notice has the buttons %+v", notice.Actions)
	}
	notice.Actions[0].press(t)
	var got c3po.WaitResult
	c.must(t, "api", "wait_for_message", c3po.WaitInput{MessageID: id, Timeout: 20}, &got)
	if got.Message.Response != "2" || got.Message.FromAgent != c3po.Human {
		t.Errorf("the agent hears %+v", got.Message)
	}
	var agents []c3po.Agent
	c.must(t, "api", "list_agents", c3po.ListAgentsInput{}, &agents)
	for _, a := range agents {
		if a.ID == "api" && a.Paused != nil {
			t.Errorf("it is still paused: %s", *a.Paused)
		}
	}
}

// An agent stands still at a permission dialog: the notice comes at once, and a press decides.
func TestAPersonAllowsAToolFromTheirPhone(t *testing.T) {
	t.Parallel()
	n := newNtfy(t)
	c := start(t, buttons(n, redistest.Start(t)))
	var told, decided []time.Duration
	for i := range 5 {
		var asked c3po.ApprovalAsked
		began := time.Now()
		c.must(t, "api", "request_approval", c3po.ApprovalInput{
			Tool: "Bash", Input: json.RawMessage(`{"command":"touch x"}`), Session: "s", Request: fmt.Sprint("r", i),
		}, &asked)
		notice := n.await(t, "team", func(m ntfyMessage) bool { return strings.Contains(m.Message, string(asked.MessageID)) })
		told = append(told, time.Since(began))
		if !strings.Contains(notice.Message, "$ touch x") || len(notice.Actions) != 2 {
			t.Fatalf("the notice is %+v", notice)
		}
		began = time.Now()
		notice.Actions[i%2].press(t)
		var got c3po.WaitResult
		c.must(t, "api", "wait_for_message", c3po.WaitInput{MessageID: asked.MessageID, Timeout: 20}, &got)
		decided = append(decided, time.Since(began))
		if verdict, ok := got.Message.Verdict(); !ok || verdict.Allow != (i%2 == 0) || verdict.Hash != asked.Hash {
			t.Errorf("the verdict is %+v", got.Message)
		}
	}
	slices.Sort(told)
	slices.Sort(decided)
	faultrig.Hold(t, "from the request to the notice", told[2], time.Second)
	faultrig.Hold(t, "from the press to the verdict", decided[2], 500*time.Millisecond)
}

func TestAButtonWorksOnceAndOnlyAsItWasMade(t *testing.T) {
	t.Parallel()
	n := newNtfy(t)
	url := redistest.Start(t)
	g := startGuarded(t, url, buttons(n, ""))
	agent := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "*"}).Secret
	admin := g.mint(t, auth.Grant{Role: c3po.RoleAdmin}).Secret
	var asked c3po.Escalation
	g.do(t, agent, "api", "escalate_to_human", c3po.EscalateInput{Reason: "which one?", Choices: []string{"yes", "no"}}, &asked)
	notice := n.await(t, "team", func(m ntfyMessage) bool { return len(m.Actions) == 2 })
	refused := func() (details []string) {
		entries, err := g.store.AuditTail(t.Context(), "0", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Event == auth.EventButtonRefused {
				details = append(details, e.Detail)
			}
		}
		return details
	}
	yes, no := notice.Actions[0], notice.Actions[1]
	body, proof, _ := strings.Cut(strings.TrimPrefix(yes.Body, "c3po-button."), ".")
	_, other, _ := strings.Cut(strings.TrimPrefix(no.Body, "c3po-button."), ".")
	for _, word := range []string{
		"c3po-button." + body + "." + other,    // the proof of the other choice
		"c3po-button." + body + "x." + proof,   // something was added
		"c3po-button." + body,                  // no proof
		"c3po-button..", "c3po-button.!!!.???", // nothing
		yes.Body[:len(yes.Body)-4] + "AAAA",       // a changed proof
		"words that somebody else sends to there", // no button at all, and no refusal
	} {
		forged := yes
		forged.Body = word
		forged.press(t)
	}
	if !faultrig.Within(longEnough, func() bool { return len(refused()) == 5 }) { // no more are kept of a second
		t.Fatalf("written down are %q", refused())
	}
	var shown c3po.Question
	g.do(t, admin, "", "human_show", c3po.MessageInput{MessageID: asked.MessageID}, &shown)
	if shown.Reply != nil {
		t.Fatalf("a forged button has answered: %+v", shown.Reply)
	}
	yes.press(t)
	if !faultrig.Within(longEnough, func() bool {
		g.do(t, admin, "", "human_show", c3po.MessageInput{MessageID: asked.MessageID}, &shown)
		return shown.Reply != nil
	}) {
		t.Fatal("the button does not answer")
	}
	yes.press(t)
	no.press(t)
	n.await(t, "team", func(m ntfyMessage) bool {
		return m.Title == "Your answer to api was not taken" && strings.HasPrefix(m.Message, "the question is answered already.")
	})
	if !faultrig.Within(longEnough, func() bool { // not all of a second are written down
		yes.press(t)
		return slices.Contains(refused(), string(asked.MessageID)+": the question is answered already")
	}) {
		t.Errorf("written down are %q", refused())
	}
	g.do(t, admin, "", "human_show", c3po.MessageInput{MessageID: asked.MessageID}, &shown)
	if shown.Reply.Response != "yes" {
		t.Errorf("the answer is %q now", shown.Reply.Response)
	}
	var request c3po.ApprovalAsked
	g.do(t, agent, "api", "request_approval", c3po.ApprovalInput{Tool: "Bash", Input: json.RawMessage(`{"command":"touch x"}`), Session: "s", Request: "r"}, &request)
	n.await(t, "team", func(m ntfyMessage) bool {
		return len(m.Actions) == 2 && strings.Contains(m.Message, string(request.MessageID))
	}).Actions[0].press(t)
	var got c3po.WaitResult
	g.do(t, agent, "api", "wait_for_message", c3po.WaitInput{MessageID: request.MessageID, Timeout: 20}, &got)
	want := []string{"human_answer " + string(asked.MessageID), "human_answer " + string(request.MessageID) + ": you allowed Bash once"}
	faultrig.Within(longEnough, func() bool { return len(g.personActs(t)) == len(want) })
	acts := g.personActs(t)
	if len(acts) != len(want) {
		t.Fatalf("the deeds of the person are %+v, want %q", acts, want)
	}
	for i, e := range acts {
		if e.Remote != "ntfy button" || e.Detail != want[i] {
			t.Errorf("the deed of the person is %+v, want %s", e, want[i])
		}
	}
}

func TestAButtonThatWasPressedWhileNobodyListenedIsHeardLater(t *testing.T) {
	t.Parallel()
	n := newNtfy(t)
	url := redistest.Start(t)
	first := start(t, buttons(n, url))
	id, notice := n.ask(t, first, "api", "yes", "no")
	first.stop()
	first.wantEnd(t)
	notice.Actions[1].press(t)
	second := start(t, buttons(n, url))
	var got c3po.WaitResult
	second.must(t, "api", "wait_for_message", c3po.WaitInput{MessageID: id, Timeout: 20}, &got)
	if got.Message.Response != "no" {
		t.Errorf("the agent hears %+v", got.Message)
	}
}
