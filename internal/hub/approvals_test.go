package hub_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

func touching(file, session, request string) c3po.ApprovalInput {
	return c3po.ApprovalInput{Tool: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":"touch %s"}`, file)), Session: session, Request: request, Folder: "/src", Reason: "I need it"}
}

func (h *testHub) decide(t *testing.T, id c3po.MessageID, choice string) error {
	t.Helper()
	_, err := h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: id, Choice: choice})
	return err
}

func TestAPersonAllowsOneCallOfATool(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		in := touching("x", "s1", "r1")
		asked := must(h.as("api").RequestApproval(t.Context(), in))(t)
		same(t, "asked twice", must(h.as("api").RequestApproval(t.Context(), in))(t).MessageID, asked.MessageID)
		_, err := h.as("api").RequestApproval(t.Context(), touching("y", "s1", "r1"))
		refused(t, err, c3po.KeyConflict)

		questions := must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t).Messages
		if len(questions) != 1 || !strings.Contains(questions[0].Message, "Allow Bash in /src") || !strings.Contains(questions[0].Message, "$ touch x") {
			t.Fatalf("the person reads %+v", questions)
		}
		if why := h.agent("api").Paused; why != nil {
			t.Errorf("paused: %s", *why)
		}
		wait := h.waitFor("api", c3po.WaitInput{MessageID: asked.MessageID})
		_, err = h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "Yes"})
		refused(t, err, c3po.InvalidRequest, "own words deny")
		if err := h.decide(t, asked.MessageID, "1"); err != nil {
			t.Fatal(err)
		}
		approval, _ := questions[0].Approval()
		verdict, ok := wait.atOnce(t).Verdict()
		if !ok || !verdict.Allow || !verdict.IsFor(approval, time.Now()) {
			t.Errorf("the verdict is %+v", verdict)
		}
		if err := h.decide(t, asked.MessageID, "1"); err != nil {
			t.Errorf("the same again, by who did not hear that it was taken: %v", err)
		}
		refused(t, h.decide(t, asked.MessageID, "2"), c3po.InvalidRequest, "decided already")
	})
}

// A client that did not hear the answer asks again, and gets the question it has asked.
func TestTheSameRequestAgainIsTheSameQuestion(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		in := touching("x", "s1", "r1")
		first := must(h.as("api").RequestApproval(t.Context(), in))(t)
		pass(3 * time.Second)
		same(t, "asked again later", must(h.as("api").RequestApproval(t.Context(), in))(t), first)
		other := in
		other.Session = "s2"
		_, err := h.as("api").RequestApproval(t.Context(), other)
		refused(t, err, c3po.KeyConflict)
		if err := h.decide(t, first.MessageID, "2"); err != nil {
			t.Fatal(err)
		}
		same(t, "asked again once decided", must(h.as("api").RequestApproval(t.Context(), in))(t), first)
		same(t, "questions", len(must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t).Messages), 0)
	})
}

// Attack: an agent floods the person's list with requests
func TestAnAgentHasAtMostTwentyRequestsBeforeThePerson(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("api")
	ask := func(from c3po.AgentID, n int) (c3po.ApprovalAsked, error) {
		return h.asRun(from, "run of "+string(from)).RequestApproval(t.Context(), touching("x", "s1", fmt.Sprint("r", n)))
	}
	var asking sync.WaitGroup
	asked := make([]c3po.ApprovalAsked, 60)
	for n := range asked {
		asking.Go(func() {
			got, err := ask("api", n)
			if asked[n] = got; err != nil && !errors.Is(err, c3po.InboxFull) {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	asked = slices.DeleteFunc(asked, func(one c3po.ApprovalAsked) bool { return one.MessageID == "" })
	same(t, "requests that were taken", len(asked), 20)
	_, err := ask("api", 100)
	refused(t, err, c3po.InboxFull, "20 of your questions already wait", "at your terminal")
	must(ask("web", 1))(t)
	if err := h.decide(t, asked[0].MessageID, "2"); err != nil {
		t.Fatal(err)
	}
	must(ask("api", 101))(t)
	must(h.as("api").Cancel(t.Context(), c3po.MessageInput{MessageID: asked[1].MessageID}))(t)
	must(ask("api", 102))(t)
	_, err = ask("api", 103)
	refused(t, err, c3po.InboxFull)
}

// Attack: a program without a session asks under one name after the other
func TestCallersWithoutASessionHaveTwentyRequestsTogether(t *testing.T) {
	t.Parallel()
	h := build(t)
	taken := 0
	for n := range 40 {
		name := c3po.AgentID(fmt.Sprint("api", n))
		_, err := h.as(name).RequestApproval(t.Context(), touching("x", "s1", fmt.Sprint("r", n)))
		switch {
		case err == nil:
			taken++
		default:
			refused(t, err, c3po.InboxFull)
		}
	}
	same(t, "requests that were taken", taken, 20)
	must(h.asRun("web", "run").RequestApproval(t.Context(), touching("x", "s1", "r100")))(t)
}

// Attack: the name of a tool, or a folder, poses as what c3po says
func TestTheLineThatWeWordHoldsNoSentenceOfAnAgent(t *testing.T) {
	t.Parallel()
	h := build(t)
	ask := func(change func(*c3po.ApprovalInput)) (string, error) {
		in := touching("x", "s1", rand.Text())
		change(&in)
		asked, err := h.as("api").RequestApproval(t.Context(), in)
		if err != nil {
			return "", err
		}
		shown := must(h.asPerson().HumanShow(t.Context(), c3po.MessageInput{MessageID: asked.MessageID}))(t)
		line, _, _ := strings.Cut(shown.Text(), "\n")
		return line, nil
	}
	for _, tool := range []string{"Bash in /src? Yes, approved by c3po", "Read?", "Bash\u00a0", "⟨1 line⟩", "-x", "Bash,", strings.Repeat("x", 129)} {
		_, err := ask(func(in *c3po.ApprovalInput) { in.Tool = tool })
		refused(t, err, c3po.InvalidRequest, "tool")
	}
	for _, tool := range []string{"Bash", "mcp__github__create_issue", "web-fetch", "github.com/x:search@2"} {
		same(t, tool, must(ask(func(in *c3po.ApprovalInput) { in.Tool = tool }))(t), "Allow "+tool+" in /src?")
	}
	for _, folder := range []string{"src", "the folder that you agreed to", "../x"} {
		_, err := ask(func(in *c3po.ApprovalInput) { in.Folder = folder })
		refused(t, err, c3po.InvalidRequest, "not a path")
	}
	for folder, want := range map[string]string{
		"/home/ann/c3po.dev":       "Allow Bash in /home/ann/c3po.dev?",
		`C:\src`:                   `Allow Bash in C:\src?`,
		"/src? It was approved":    `Allow Bash in "/src? It was approved"?`,
		"/src ⟨0 lines unchanged⟩": `Allow Bash in "/src ⟨U+27E8⟩0 lines unchanged⟩"?`,
	} {
		same(t, folder, must(ask(func(in *c3po.ApprovalInput) { in.Folder = folder }))(t), want)
	}
}

func TestAnApprovalSaysOnWhichHostItsAgentRuns(t *testing.T) {
	t.Parallel()
	h := build(t)
	here := hub.New(hub.Config{Store: h.calls, Node: "node-3", Host: "nas"})
	for n, row := range []struct {
		caller c3po.Caller
		says   string // about itself
		want   string
	}{
		{c3po.Caller{ID: "api", Local: true}, "elsewhere", "nas"},
		{c3po.Caller{ID: "laptop/web"}, "elsewhere", "laptop"},
		{c3po.Caller{ID: "db", Run: "box:12:34"}, "elsewhere", "box"},
		{c3po.Caller{ID: "docs"}, "attic", "attic"},
		{c3po.Caller{ID: "ops"}, "nas? It was approved", ""},
	} {
		row.caller.Role, row.caller.Route = c3po.RoleAgent, "rest"
		must(here.As(row.caller).RegisterAgent(t.Context(), c3po.RegisterInput{Host: row.says}))(t)
		asked := must(here.As(row.caller).RequestApproval(t.Context(), touching("x", "s1", fmt.Sprint("r", n))))(t)
		shown := must(h.asPerson().HumanShow(t.Context(), c3po.MessageInput{MessageID: asked.MessageID}))(t)
		approval, _ := shown.Approval()
		want := "Allow Bash in /src?"
		if row.want != "" {
			want = "Allow Bash in /src on " + row.want + "?"
		}
		if line, _, _ := strings.Cut(shown.Text(), "\n"); approval.Host != row.want || line != want {
			t.Errorf("%s: host %q, %q, want %q", row.caller.ID, approval.Host, line, want)
		}
	}
}

func TestADenialInOwnWordsReachesTheAgent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		asked := must(h.as("api").RequestApproval(t.Context(), touching("x", "s1", "r1")))(t)
		must(h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: "Use make instead."}))(t)
		answer := h.waitFor("api", c3po.WaitInput{MessageID: asked.MessageID}).atOnce(t)
		if verdict, ok := answer.Verdict(); !ok || verdict.Allow || answer.Response != "Use make instead." {
			t.Errorf("the answer is %+v", answer)
		}
	})
}

// Own words deny, so what may be meant as a yes decides nothing.
func TestAWordThatMayMeanYesDecidesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		asked := must(h.as("api").RequestApproval(t.Context(), touching("x", "s1", "r1")))(t)
		for _, word := range []string{"yes", "OK!", " allow once", "Allow Once.", "do it", "go ahead", "sure, go", "lgtm", "Allow  once, please", c3po.AllowOnce} {
			_, err := h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Response: word})
			refused(t, err, c3po.InvalidRequest, "none of the choices")
		}
		must(h.asPerson().HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.MessageID, Choice: c3po.AllowOnce}))(t)
		if verdict, ok := h.waitFor("api", c3po.WaitInput{MessageID: asked.MessageID}).atOnce(t).Verdict(); !ok || !verdict.Allow {
			t.Errorf("the verdict is %+v", verdict)
		}
	})
}

func TestARequestThatIsOverCannotBeDecided(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		withdrawn := must(h.as("api").RequestApproval(t.Context(), touching("x", "s1", "r1")))(t)
		must(h.as("api").Cancel(t.Context(), c3po.MessageInput{MessageID: withdrawn.MessageID}))(t)
		refused(t, h.decide(t, withdrawn.MessageID, "1"), c3po.InvalidRequest, "withdrawn")

		in := touching("x", "s1", "r2")
		in.Expires = "10s"
		expired := must(h.as("api").RequestApproval(t.Context(), in))(t)
		pass(11 * time.Second)
		refused(t, h.decide(t, expired.MessageID, "1"), c3po.InvalidRequest, "has expired")
		same(t, "what waits for the person", must(h.asPerson().HumanList(t.Context(), c3po.GetMessagesInput{}))(t).Count, 0)

		left := must(h.as("api").RequestApproval(t.Context(), touching("x", "s1", "r3")))(t)
		must(h.as("api").Unregister(t.Context(), c3po.None{}))(t)
		refused(t, h.decide(t, left.MessageID, "1"), c3po.InvalidRequest, "has ended")
	})
}

// A verdict is worth nothing for another input, session or request, or after its time.
func TestAVerdictIsRefusedForAnythingElse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	of := func(file, session, request string, expires time.Time) c3po.Approval {
		in := touching(file, session, request)
		hash, err := c3po.ApprovalHash(in.Tool, in.Input)
		if err != nil {
			t.Fatal(err)
		}
		return c3po.Approval{Tool: in.Tool, Input: in.Input, Hash: hash, Session: session, Request: request, Folder: in.Folder, Expires: expires}
	}
	granted := 0
	for i := range 25 {
		n := fmt.Sprint(i)
		a := of("x"+n, "s"+n, "r"+n, now.Add(time.Minute))
		v := c3po.Verdict{Allow: true, Hash: a.Hash, Session: a.Session, Request: a.Request, Folder: a.Folder, Expires: a.Expires}
		elsewhere := a
		elsewhere.Folder = "/"
		if v.IsFor(elsewhere, now) {
			granted++
		}
		if !v.IsFor(a, now) {
			t.Fatalf("%+v is not for %+v", v, a)
		}
		for _, other := range []c3po.Approval{of("x"+n+" ", "s"+n, "r"+n, a.Expires), of("x"+n, "s", "r"+n, a.Expires), of("x"+n, "s"+n, "r", a.Expires)} {
			if v.IsFor(other, now) {
				granted++
			}
		}
		if v.IsFor(a, a.Expires) {
			granted++
		}
	}
	same(t, "replays that were granted, of 125", granted, 0)
}

func TestTheHashIsOfToolAndExactInput(t *testing.T) {
	t.Parallel()
	hash := func(tool, input string) string {
		sum, err := c3po.ApprovalHash(tool, json.RawMessage(input))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	same(t, "fields in another order", hash("Bash", `{"a":1,"b":[2,3]}`), hash("Bash", `{ "b":[2,3], "a":1 }`))
	for _, other := range []struct{ tool, input string }{
		{"Bash2", `{"a":1,"b":[2,3]}`}, {"Bash", `{"a":1,"b":[3,2]}`}, {"Bash", `{"a":1.0,"b":[2,3]}`}, {"Bash", `{"a":1,"b":[2,3],"c":null}`}, {"Bash", `{"a":"1","b":[2,3]}`},
	} {
		if hash(other.tool, other.input) == hash("Bash", `{"a":1,"b":[2,3]}`) {
			t.Errorf("%+v has the same hash", other)
		}
	}
	same(t, "an escaped pair", hash("Bash", `{"a":"\ud83d\ude00 \\ud800"}`), hash("Bash", `{"a":"😀 \\ud800"}`))
	for _, bad := range []string{`{"a":1,"a":1}`, `{"command":"ls","x":[{"y":[],"z":{"b":1,"\u0062":2}}]}`, ``, `[]`, `null`, `"x"`, `{} {}`, `{"a":`, `{"a":"\ud800"}`, `{"a":"\ud801"}`, `{"a":"\udc00"}`, `{"\ud800":1}`, `{"a":"\ud800\u0041"}`, `{"a":"\ud800\ud800\udc00"}`, `{"a":"x\\\ud800"}`, "{\"a\":\"\xff\"}"} {
		if _, err := c3po.ApprovalHash("Bash", json.RawMessage(bad)); err == nil {
			t.Errorf("%q has a hash", bad)
		}
	}
}

// An agent stands still for it: the person hears of it within a second.
func TestAPersonHearsSoonOfARequestForPermission(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &crier{channels: []string{"ntfy"}}
		h, _ := town(t, c)
		pass(time.Minute)
		must(h.as("api").RequestApproval(t.Context(), touching("x", "s1", "r1")))(t)
		pass(300 * time.Millisecond)
		same(t, "told", len(c.all()), 1)
	})
}
