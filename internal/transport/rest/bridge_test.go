package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// registered makes an agent of the bridge.
func (s *testServer) registered(t *testing.T, space, agent string) {
	t.Helper()
	if got := s.ask(t, question{path: "/agents/register", space: space, body: `{"agentId":"` + agent + `"}`}); got.status != http.StatusOK {
		t.Fatalf("register: %d %s", got.status, got.body)
	}
}

// ticket opens one and gives what it is called.
func (s *testServer) ticket(t *testing.T, space, target, body string) string {
	t.Helper()
	got := s.ask(t, question{path: "/agents/" + target + "/send", space: space, body: body})
	var ticket dialect.Ticket
	got.into(t, &ticket)
	if got.status != http.StatusOK || ticket.Status != "pending" {
		t.Fatalf("send: %d %s", got.status, got.body)
	}
	return ticket.TicketID
}

func (s *testServer) replied(t *testing.T, space, ticket, text string) {
	t.Helper()
	if got := s.ask(t, question{path: "/replies", space: space, body: `{"ticketId":"` + ticket + `","payload":"` + text + `"}`}); got.status != http.StatusNoContent {
		t.Fatalf("reply: %d %s", got.status, got.body)
	}
}

var eventForm = regexp.MustCompile(`(?s)^((?:: here\n\n)*)event: (\w+)\ndata: (\{[^\n]*\})\n\n$`)

// event is the one event of a stream, and how many signs of life came before it.
func (a answer) event(t *testing.T) (name string, ticket dialect.Ticket, signs int) {
	t.Helper()
	form := eventForm.FindSubmatch(a.body)
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "text/event-stream" || form == nil {
		t.Fatalf("answer %d is no stream of one event:\n%s", a.status, a.body)
	}
	if err := json.Unmarshal(form[3], &ticket); err != nil {
		t.Fatal(err)
	}
	return string(form[2]), ticket, strings.Count(string(form[1]), "here")
}

func TestAHeartbeatMovesTheEndByThreeOfTheDeclaredIntervals(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	for beat, want := range map[string]time.Duration{"5000": 15 * time.Second, "300000": 15 * time.Minute} {
		id := "jerry-" + beat
		until := func(path, body string) time.Time {
			t.Helper()
			got := s.ask(t, question{path: path, space: space, body: body})
			var out dialect.Registered
			got.into(t, &out)
			if left := time.Until(out.ExpiresAt); got.status != http.StatusOK || left > want+time.Second || left < want-5*time.Second {
				t.Errorf("every %s ms: expires in %v, want %v", beat, left, want)
			}
			return out.ExpiresAt
		}
		first := until("/agents/register", `{"agentId":"`+id+`","type":"codex","heartbeatIntervalMs":`+beat+`}`)
		deadline := time.Now().Add(10 * time.Second)
		for !until("/agents/"+id+"/heartbeat", "{}").After(first) {
			if time.Now().After(deadline) {
				t.Fatal("a heartbeat did not move expiresAt")
			}
		}
	}
}

func TestAStreamHasOneEventWithTheReply(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "box/jerry")
	for _, early := range []bool{true, false} {
		ticket := s.ticket(t, space, "box%2Fjerry", `{"payload":"a joke?","metadata":{"early":`+map[bool]string{true: "1", false: "2"}[early]+`}}`)
		path := "/replies/" + strings.ReplaceAll(ticket, "/", "%2F") + "/stream"
		if early {
			s.replied(t, space, ticket, "knock knock")
		}
		answered := make(chan answer)
		go func() { answered <- s.ask(t, question{path: path, space: space}) }()
		if !early {
			s.replied(t, space, ticket, "knock knock")
		}
		name, got, _ := (<-answered).event(t)
		if name != "reply" || got.TicketID != ticket || got.Status != "responded" || got.Payload.Text != "knock knock" || got.LatencyMS == nil {
			t.Errorf("early %v: event %s, %+v", early, name, got)
		}
	}
}

func TestAWaitForAReplyEndsWhenItWasToldTo(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{"": 25 * time.Second, "?waitMs=0": 0, "?waitMs=250": 250 * time.Millisecond, "?waitMs=90000": 90 * time.Second} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := onModel(t)
				s.registered(t, "", "jerry")
				s.ticket(t, "", "jerry", `{"ticketId":"t1","payload":"a joke?"}`)
				began := time.Now()
				got := s.ask(t, question{path: "/replies/t1" + query})
				if got.status != http.StatusNoContent || len(got.body) > 0 || time.Since(began) != want {
					t.Errorf("%d %q after %v, want 204 after %v", got.status, got.body, time.Since(began), want)
				}
				began = time.Now()
				if query == "" {
					query, want = "?waitMs=60000", time.Minute
				}
				name, ticket, signs := s.ask(t, question{path: "/replies/t1/stream" + query}).event(t)
				if name != "timeout" || ticket.TicketID != "t1" || ticket.Status != "timeout" || time.Since(began) != want {
					t.Errorf("event %s, %+v after %v, want timeout after %v", name, ticket, time.Since(began), want)
				}
				// One who is silent for a minute is cut off by what stands in between.
				if least := int(want / (16 * time.Second)); signs < least {
					t.Errorf("%d signs of life in %v", signs, want)
				}
			})
		})
	}
}

func TestATicketThatHasEndedIsForgottenAfterHalfAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := onModel(t)
		s.registered(t, "", "jerry")
		s.ticket(t, "", "jerry", `{"ticketId":"ended","payload":"a joke?"}`)
		s.ticket(t, "", "jerry", `{"ticketId":"open","payload":"another?"}`)
		s.replied(t, "", "ended", "knock knock")
		for _, step := range []struct {
			after       time.Duration
			ended, open int
		}{{29 * time.Minute, http.StatusOK, http.StatusNoContent}, {2 * time.Minute, http.StatusNotFound, http.StatusNoContent}} {
			<-time.After(step.after)
			for ticket, want := range map[string]int{"ended": step.ended, "open": step.open} {
				if got := s.ask(t, question{path: "/replies/" + ticket + "?waitMs=0"}); got.status != want {
					t.Errorf("%s after %v more: %d %s, want %d", ticket, step.after, got.status, got.body, want)
				}
			}
		}
		s.ask(t, question{path: "/replies/ended/stream"}).refused(t, http.StatusNotFound, c3po.TicketNotFound)
		s.ask(t, question{path: "/replies", body: `{"ticketId":"ended","payload":"late"}`}).refused(t, http.StatusNotFound, c3po.TicketNotFound)
		again := s.ask(t, question{path: "/agents/jerry/send", body: `{"ticketId":"ended","payload":"a joke?"}`})
		again.refused(t, http.StatusConflict, c3po.KeyConflict)
		if !strings.Contains(string(again.body), "new ticketId") {
			t.Errorf("a ticketId that was used before: %s", again.body)
		}
	})
}

func TestAnAnswerThatWasTakenIsNotLeftInTheInbox(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "jerry")
	s.ticket(t, space, "jerry", `{"ticketId":"t1","payload":"a joke?"}`)
	s.replied(t, space, "t1", "knock knock")
	s.replied(t, space, "t1", "knock knock")
	for _, step := range []struct {
		path string
		left int
	}{{"/replies/t1?waitMs=0", 0}, {"/replies/t1?waitMs=0", 0}} {
		if got := s.ask(t, question{path: step.path, space: space}); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		var pending c3po.Pending
		s.op(t, space, "bridge", "pending", c3po.PendingInput{}, &pending)
		if pending.Count != step.left {
			t.Errorf("%d messages are left in the inbox of who asked: %+v", pending.Count, pending.Messages)
		}
	}
}

func TestTwoAgentsMayGiveTheirTicketsTheSameName(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	for _, agent := range []string{"ann", "bob", "jerry", "spock"} {
		s.registered(t, space, agent)
	}
	for asker, target := range map[string]string{"ann": "jerry", "bob": "spock"} {
		body := `{"ticketId":"t1","payload":"who am I?"}`
		if got := s.ask(t, question{path: "/agents/" + target + "/send", as: asker, space: space, body: body}); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		body = `{"ticketId":"t1","payload":"you are ` + asker + `"}`
		if got := s.ask(t, question{path: "/replies", as: target, space: space, body: body}); got.status != http.StatusNoContent {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for _, asker := range []string{"ann", "bob"} {
		var ticket dialect.Ticket
		s.ask(t, question{path: "/replies/t1", as: asker, space: space}).into(t, &ticket)
		if ticket.Payload == nil || ticket.Payload.Text != "you are "+asker {
			t.Errorf("%s is answered %+v", asker, ticket)
		}
	}
}

func TestWhatTicketsCarryIsNotLogged(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "jerry")
	s.ticket(t, space, "jerry", `{"ticketId":"t1","payload":"the secret question","metadata":{"origin":"the secret origin"}}`)
	s.replied(t, space, "t1", "the secret answer")
	s.ask(t, question{path: "/replies/t1", space: space})
	s.ask(t, question{path: "/agents/nobody/send", space: space, body: `{"payload":"the secret mistake"}`})
	if strings.Contains(s.log.String(), "secret") {
		t.Errorf("the log holds what was written:\n%s", s.log)
	}
	if lines := s.log.lines(t, "request"); len(lines) != 5 {
		t.Errorf("%d requests are logged, want 5", len(lines))
	}
}

// Who chooses a new ticketId says that it is another ticket, whatever is in it.
func TestTheSamePayloadUnderANewTicketIDIsANewTicket(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "jerry")
	for _, id := range []string{"t1", "t2", "t3", "t4"} {
		s.ticket(t, space, "jerry", `{"ticketId":"`+id+`","payload":"Please review"}`)
	}
	var pending c3po.Pending
	s.op(t, space, "jerry", "pending", c3po.PendingInput{}, &pending)
	if pending.Count != 4 {
		t.Errorf("jerry has %d tickets, want 4", pending.Count)
	}
}

func TestOfTicketsWithOneNameTheOpenOneIsAnswered(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "jerry")
	ask := func(as string) {
		t.Helper()
		if got := s.ask(t, question{path: "/agents/jerry/send", as: as, space: space, body: `{"ticketId":"job","payload":"for ` + as + `"}`}); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	answer := func(text string) int {
		return s.ask(t, question{path: "/replies", as: "jerry", space: space, body: `{"ticketId":"job","payload":"` + text + `"}`}).status
	}
	holds := func(as string) string {
		return string(s.ask(t, question{method: "GET", path: "/replies/job?timeoutMs=1", as: as, space: space}).body)
	}
	ask("alice")
	if got := answer("to alice"); got != http.StatusNoContent {
		t.Fatal(got)
	}
	ask("bobby")
	if got := answer("to bobby"); got != http.StatusNoContent {
		t.Fatal(got)
	}
	if got := holds("bobby"); !strings.Contains(got, "to bobby") {
		t.Errorf("bobby's ticket holds %s", got)
	}
	if got := holds("alice"); !strings.Contains(got, "to alice") || strings.Contains(got, "to bobby") {
		t.Errorf("alice's ticket holds %s", got)
	}
	ask("carl")
	ask("dora")
	if got := answer("to whom?"); got != http.StatusBadRequest {
		t.Errorf("with two open tickets of the name an answer is %d", got)
	}
}

func TestSendersWithoutANameHaveABudgetForEachAddress(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "jerry")
	from := func(address string, n int) int {
		r := question{path: "/agents/jerry/send", space: space, body: fmt.Sprintf(`{"ticketId":"t%d-%s","payload":"%d"}`, n, address, n)}.request(t.Context())
		r.RemoteAddr = address + ":4711"
		recorder := httptest.NewRecorder()
		s.ServeHTTP(recorder, r)
		return recorder.Code
	}
	most := c3po.DefaultLimits().SendsPerMinute
	for n := range most {
		if got := from("10.0.0.1", n); got != http.StatusOK {
			t.Fatalf("send %d: %d", n, got)
		}
	}
	if got := from("10.0.0.1", most); got != http.StatusTooManyRequests {
		t.Errorf("send %d of one address: %d, want 429", most+1, got)
	}
	if got := from("10.0.0.2", 0); got != http.StatusOK {
		t.Errorf("the first send of another address: %d", got)
	}
}

func TestFieldsThatTheBridgeDoesNotKnowAreIgnored(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	for _, q := range []question{
		{path: "/agents/register", body: `{"agentId":"jerry","color":"green"}`},
		{path: "/agents/jerry/heartbeat", body: `{"load":0.5}`},
		{path: "/agents/jerry/send", body: `{"ticketId":"t1","payload":"a joke?","priority":"low"}`},
		{path: "/replies", body: `{"ticketId":"t1","payload":"knock knock","mood":"good"}`},
		{path: "/api/op/await_reply", as: "bridge", body: `{"ticketId":"t1","verbose":true}`},
		{path: "/api/op/bridge_list_agents", as: "bridge", body: `{"verbose":true}`},
	} {
		q.space = space
		if got := s.ask(t, q); got.status >= 300 {
			t.Errorf("%s: %d %s", q.path, got.status, got.body)
		}
	}
	s.ask(t, question{path: "/replies", space: space, body: `{"ticketId":"t1","payload":"x"} and more`}).refused(t, http.StatusBadRequest, c3po.InvalidRequest)
}

func TestABroadcastOfTheBridgeOpensATicketForEachAgent(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "jerry")
	s.registered(t, space, "spock")
	var out dialect.Broadcasted
	s.op(t, space, "ann", "broadcast_message", map[string]any{"agentIds": []string{"jerry", "spock", "nobody"}, "payload": "who is free?"}, &out)
	if len(out.Tickets) != 3 || out.Tickets[0].Status != "pending" || out.Tickets[1].Status != "pending" || out.Tickets[2].Status != "error" {
		t.Fatalf("the tickets are %+v", out.Tickets)
	}
	s.replied(t, space, out.Tickets[1].TicketID, "I am")
	got := s.ask(t, question{path: "/replies/" + out.Tickets[1].TicketID + "?waitMs=0", as: "ann", space: space})
	if got.status != http.StatusOK || !strings.Contains(string(got.body), "I am") {
		t.Errorf("the answer: %d %s", got.status, got.body)
	}
	var everybody dialect.Broadcasted
	s.op(t, space, "ann", "broadcast_message", map[string]any{"payload": "The database moves"}, &everybody)
	if len(everybody.Tickets) != 0 || !slices.Contains(everybody.Live, "jerry") {
		t.Errorf("a broadcast to everybody: %+v", everybody)
	}
	var updates dialect.Updates
	s.op(t, space, "ann", "subscribe_updates", map[string]any{}, &updates)
	s.ticket(t, space, "jerry", `{"ticketId":"uuid-7","payload":"and you?"}`)
	s.op(t, space, "ann", "subscribe_updates", map[string]any{"agentId": "jerry"}, &updates)
	if last := updates.Events[len(updates.Events)-1]; last.TicketID != "uuid-7" {
		t.Errorf("the ticket of the last event is called %q: %+v", last.TicketID, last)
	}
	if len(updates.Events) == 0 || updates.After == "" || updates.StreamEndpoint != "/api/events" {
		t.Errorf("the updates are %+v", updates)
	}
}

func TestTheBridgeSpeaksOfWhatItsCallersKnow(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "jerry")
	s.ticket(t, space, "jerry", `{"ticketId":"uuid-1","payload":"a joke?"}`)
	for body, want := range map[string]string{
		`{"ticketId":"uuid-1","payload":"another?"}`: "ticketId",
		`{"payload":""}`: "payload is empty",
	} {
		got := s.ask(t, question{path: "/agents/jerry/send", space: space, body: body})
		if text := string(got.body); got.status < 400 || !strings.Contains(text, want) || strings.Contains(text, "client_key") {
			t.Errorf("%s: %d %s", body, got.status, text)
		}
	}
	// A time of 0 is none, over REST and as a tool.
	s.ask(t, question{path: "/agents/jerry/send", space: space, body: `{"payload":"now?","timeoutMs":0}`}).refused(t, http.StatusBadRequest, c3po.InvalidRequest)
	for _, tool := range []string{"await_reply", "bridge_send_message"} {
		s.ask(t, question{path: "/api/op/" + tool, as: "ann", space: space, body: `{"ticketId":"uuid-1","agentId":"jerry","payload":"now?","timeoutMs":0}`}).refused(t, http.StatusBadRequest, c3po.InvalidRequest)
	}
}

func TestAWaitWithoutANameIsItsAskersUnderTheNameItGaveItsTicket(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.registered(t, space, "ann")
	s.registered(t, space, "jerry")
	if got := s.ask(t, question{path: "/agents/jerry/send", as: "ann", space: space, body: `{"ticketId":"wd","payload":"ready?"}`}); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := s.ask(t, question{path: "/replies/wd?waitMs=0", space: space}); got.status != http.StatusNoContent {
		t.Errorf("before the answer a wait is answered %d %s", got.status, got.body)
	}
	for _, path := range []string{"/replies/wd?waitMs=0", "/replies/wd?waitMs=200", "/replies/wd/stream"} {
		if got := s.ask(t, question{path: path, as: "jerry", space: space}); got.status != http.StatusForbidden {
			t.Errorf("%s by another agent is answered %d %s", path, got.status, got.body)
		}
	}
	s.replied(t, space, "wd", "yes")
	var ticket dialect.Ticket
	s.ask(t, question{path: "/replies/wd?waitMs=500", space: space}).into(t, &ticket)
	if ticket.Payload == nil || ticket.Payload.Text != "yes" {
		t.Errorf("a wait is answered %+v", ticket)
	}
	if name, ticket, _ := s.ask(t, question{path: "/replies/wd/stream", space: space}).event(t); name != "reply" || ticket.Payload.Text != "yes" {
		t.Errorf("a stream has %s %+v", name, ticket)
	}
	if got := s.ask(t, question{path: "/replies/unknown/stream", space: space}); got.status != http.StatusNotFound {
		t.Errorf("a stream of an unknown ticket is answered %d %s", got.status, got.body)
	}
}
