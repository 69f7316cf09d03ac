package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// Every operation is called once; ask holds each answer against the document.
func TestEveryOperationAnswersAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	called := map[string]bool{}
	do := func(as, name string, in, out any) {
		t.Helper()
		called[name] = true
		s.op(t, space, as, name, in, out)
	}
	do("bob", "register_agent", c3po.RegisterInput{Capabilities: []string{"mqtt"}, Type: "codex", Cwd: "/src", Metadata: json.RawMessage(`{"a":[]}`)}, nil)
	do("ann", "whoami", c3po.None{}, nil)
	do("ann", "list_agents", c3po.ListAgentsInput{}, nil)
	do("ann", "set_status", c3po.StatusInput{Status: c3po.Busy, CurrentTask: "tests"}, nil)

	var sent c3po.Receipt
	do("ann", "send_message", c3po.SendInput{
		Target: "bob", Message: "which port?", Context: "setup", Priority: c3po.Urgent,
		Metadata: json.RawMessage(`{"n":1}`), ContentType: "text/plain", ClientKey: "k1",
	}, &sent)
	do("bob", "peek", c3po.GetMessagesInput{}, nil)
	do("bob", "pending", c3po.PendingInput{}, nil)
	do("bob", "get_messages", c3po.GetMessagesInput{}, nil)
	do("bob", "received", c3po.ReceivedInput{MessageIDs: []c3po.MessageID{sent.ID}, Notified: sent.Seq}, nil)
	do("bob", "wait_for_message", c3po.WaitInput{Timeout: 1}, nil)
	do("bob", "reply", c3po.ReplyInput{MessageID: sent.ID, Response: "8420"}, nil)
	do("ann", "wait_for_message", c3po.WaitInput{MessageID: sent.ID, Timeout: 1}, nil)
	do("ann", "get_thread", c3po.ThreadInput{Thread: string(sent.ID)}, nil)
	do("ann", "trace", c3po.MessageInput{MessageID: sent.ID}, nil)
	do("ann", "tail_log", c3po.LogInput{Agent: "bob", Kinds: []c3po.EventKind{c3po.EventAccepted}, Since: "1h"}, nil)
	do("ann", "tickets", c3po.TicketsInput{}, nil)
	do("ann", "cancel", c3po.MessageInput{MessageID: sent.ID}, nil)
	do("bob", "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{sent.ID}}, nil)

	var task c3po.Receipt
	do("ann", "send_message", c3po.SendInput{Target: "role:mqtt", Message: "who is free?"}, &task)
	do("bob", "claim", c3po.MessageInput{MessageID: task.ID}, nil)
	do("ann", "trace", c3po.MessageInput{MessageID: task.ID}, nil)
	do("ann", "ack_messages", c3po.AckInput{MessageIDs: []c3po.MessageID{task.ID}}, nil)

	var asked c3po.Escalation
	do("ann", "escalate_to_human", c3po.EscalateInput{Reason: "may I?", Question: "now?", Choices: []string{"yes", "no"}, Deadline: "1h"}, &asked)
	do("ann", "request_approval", c3po.ApprovalInput{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Session: "s", Request: "r", Folder: "/src", Reason: "why", Expires: "1h"}, nil)
	do("", "human_list", c3po.GetMessagesInput{}, nil)
	do("", "human_answer", c3po.AnswerInput{MessageID: asked.MessageID, Choice: "1"}, nil)
	do("", "human_show", c3po.MessageInput{MessageID: asked.MessageID}, nil)
	do("", "pause", c3po.PauseInput{AgentID: "bob", Reason: "lunch"}, nil)
	do("", "resume", c3po.PauseInput{AgentID: "bob"}, nil)
	do("", "thread_resume", c3po.ThreadResumeInput{Thread: string(sent.ID)}, nil)

	var taken c3po.LeaseTaken
	do("ann", "lease_take", c3po.LeaseTakeInput{Repository: "r", Branch: "main", Tree: "t", Paths: []string{"a.go", "b.go"}, Task: "the parser"}, &taken)
	do("bob", "lease_take", c3po.LeaseTakeInput{Repository: "r", Branch: "main", Tree: "t", Paths: []string{"a.go"}}, nil)
	do("bob", "lease_check", c3po.LeaseCheckInput{Repository: "r", Branch: "main", Tree: "t", Paths: []string{"a.go"}, Numbers: []int64{0}}, nil)
	do("ann", "lease_release", c3po.LeaseReleaseInput{Repository: "r", Branch: "main", Tree: "t", Paths: []string{"a.go"}}, nil)
	do("", "lease_break", c3po.LeaseBreakInput{Number: taken.Numbers[1]}, nil)
	data := []byte("a patch")
	sum := sha256.Sum256(data)
	var file c3po.FileState
	do("ann", "file_begin", c3po.FileInput{Name: "fix.diff", Size: int64(len(data)), Type: "text/x-diff", SHA256: hex.EncodeToString(sum[:])}, &file)
	do("ann", "file_append", c3po.FileChunkInput{ID: file.ID, Data: data}, &file)
	var carrying c3po.Receipt
	do("ann", "send_message", c3po.SendInput{Target: "bob", Message: "see the patch", Attach: []c3po.FileID{file.ID}}, &carrying)
	do("bob", "file_read", c3po.FileQuery{MessageID: carrying.ID, File: file.ID}, nil)
	do("bob", "file_text", c3po.FileTextInput{MessageID: carrying.ID}, nil)
	do("ann", "file_list", c3po.FileListInput{}, nil)
	var spare c3po.FileState
	do("ann", "file_begin", c3po.FileInput{Name: "spare", Size: 1, SHA256: hex.EncodeToString(sum[:])}, &spare)
	do("ann", "file_drop", c3po.FileDropInput{ID: spare.ID}, nil)

	do("carl", "whoami", c3po.None{}, nil)
	var last c3po.Receipt
	do("ann", "send_message", c3po.SendInput{Target: "carl", Message: "still there?"}, &last)
	do("carl", "unregister", c3po.None{}, nil)
	var swept c3po.SweepResult
	do("", "sweep", c3po.SweepInput{Older: "0s"}, &swept)
	if len(swept.Swept) != 1 || swept.Swept[0].ID != "carl" || swept.Swept[0].Letters != 1 {
		t.Errorf("swept %+v", swept)
	}
	letter := last.ID
	do("", "dead_letters", c3po.LettersInput{AgentID: "carl", Reason: c3po.ReasonRecipientRemoved, Since: "1h"}, nil)
	do("", "dead_letter", c3po.MessageInput{MessageID: letter}, nil)
	do("", "dead_letter_replay", c3po.LetterSelection{MessageIDs: []c3po.MessageID{letter}}, nil)
	do("", "dead_letter_purge", c3po.LetterSelection{MessageIDs: []c3po.MessageID{letter}}, nil)
	do("ann", "room_join", c3po.RoomJoinInput{Room: "build"}, nil)
	do("ann", "room_invite", c3po.RoomInviteInput{Room: "build", Agent: "bob"}, nil)
	do("bob", "room_join", c3po.RoomJoinInput{Room: "build"}, nil)
	do("ann", "room_post", c3po.RoomPostInput{Room: "build", Message: "@bob it is green"}, nil)
	do("bob", "room_post", c3po.RoomPostInput{Room: "build", Message: "good"}, nil)
	do("ann", "get_messages", c3po.GetMessagesInput{}, nil)
	do("ann", "pending", c3po.PendingInput{}, nil)
	do("bob", "room_history", c3po.RoomHistoryInput{Room: "build"}, nil)
	do("bob", "room_list", c3po.RoomListInput{All: true}, nil)
	do("ann", "room_list", c3po.RoomListInput{}, nil)
	do("ann", "room_set", c3po.RoomSetInput{Room: "build", Visibility: c3po.InviteOnly}, nil)
	do("ann", "broadcast", c3po.BroadcastInput{Message: "a release is out", Type: "codex"}, nil)
	do("ann", "list_agents", c3po.ListAgentsInput{}, nil)
	do("", "room_prune", c3po.RoomPruneInput{DryRun: true}, nil)
	known := map[string]any{"message_id": sent.ID, "thread": sent.ID, "agent_id": "bob", "room": "build", "words": "green", "limit": 2}
	for _, op := range dialect.Operations() {
		if op.Toolset == c3po.Compat || op.Toolset == c3po.Bridge || op.Toolset == c3po.C2C {
			continue
		}
		if op.ReadOnly && !called[op.Name] {
			as := "ann"
			if !op.Allows(c3po.RoleAgent) {
				as = ""
			}
			do(as, op.Name, exampleOf(op, known), nil)
		}
	}
	do("bob", "room_leave", c3po.RoomInput{Room: "build"}, nil)
	do("ann", "room_end", c3po.RoomInput{Room: "build"}, nil)

	var request dialect.RequestSent
	do("ann", "send_request", dialect.SendRequest{Target: "bob", Message: "and the host?"}, &request)
	do("bob", "get_pending_requests", c3po.None{}, nil)
	do("bob", "wait_for_request", dialect.WaitRequest{Timeout: 1}, nil)
	do("bob", "respond_to_request", dialect.Respond{RequestID: request.RequestID, Response: "here"}, nil)
	do("ann", "wait_for_response", dialect.WaitResponse{RequestID: request.RequestID, Timeout: 1}, nil)

	do("bob", "bridge_register_agent", dialect.Register{AgentID: "bob", Type: "codex"}, nil)
	do("ann", "bridge_list_agents", dialect.AgentsInput{Type: "codex"}, nil)
	do("ann", "bridge_co_workers", dialect.AgentsInput{}, nil)
	no := false
	var ticket dialect.Ticket
	do("ann", "bridge_send_message", dialect.SendTool{AgentID: "bob", Payload: dialect.Payload{Text: "a joke?"}, AwaitResponse: &no}, &ticket)
	do("bob", "post_reply", dialect.Reply{TicketID: ticket.TicketID, Payload: dialect.Payload{Text: `{"joke":"..."}`, JSON: true}}, nil)
	do("ann", "cancel_ticket", dialect.TicketInput{TicketID: ticket.TicketID}, nil)
	do("ann", "broadcast_message", dialect.Broadcast{Payload: dialect.Payload{Text: "who is free?"}}, nil)
	do("ann", "subscribe_updates", dialect.Subscribe{Limit: 5}, nil)
	do("ann", "await_reply", dialect.Await{TicketID: ticket.TicketID, TimeoutMS: 1}, nil)

	do("dora", "c2c_register", dialect.Alias{Alias: "dora"}, nil)
	do("dora", "c2c_whoami", c3po.None{}, nil)
	do("dora", "c2c_list", c3po.ListAgentsInput{}, nil)
	do("dora", "c2c_send", dialect.SendTo{ToAlias: "bob", Content: "hello"}, nil)
	do("dora", "send_all", dialect.SendAll{Content: "hello everybody"}, nil)
	do("bob", "peek_inbox", c3po.GetMessagesInput{}, nil)
	do("bob", "poll_inbox", c3po.GetMessagesInput{}, nil)
	do("dora", "join_room", dialect.InRoom{RoomID: "lounge"}, nil)
	do("dora", "send_room", dialect.SendRoom{RoomID: "lounge", Content: "hello"}, nil)
	do("dora", "c2c_room_history", dialect.InRoom{RoomID: "lounge"}, nil)
	do("dora", "my_rooms", c3po.None{}, nil)
	do("dora", "list_rooms", c3po.None{}, nil)
	do("dora", "send_room_invite", dialect.RoomInvitation{RoomID: "lounge", ToAlias: "bob"}, nil)
	do("dora", "set_room_visibility", dialect.RoomVisibility{RoomID: "lounge", Visibility: c3po.Public}, nil)
	do("dora", "leave_room", dialect.InRoom{RoomID: "lounge"}, nil)

	var books c3po.Audit
	do("", "fsck", c3po.None{}, &books)
	if !books.Balanced {
		t.Errorf("the books do not balance: %+v", books)
	}
	do("bob", "rename", c3po.RenameInput{NewID: "robert"}, nil)
	do("ann", "unregister", c3po.None{}, nil)
	s.ask(t, question{
		path: "/api/op/report_death", as: "carl", space: space, body: `{"run":"box:7:8"}`, header: map[string]string{"X-C3PO-Run": "box:7:8"},
	})
	called["report_death"] = true

	for _, op := range dialect.Operations() {
		if !called[op.Name] {
			t.Errorf("%s was never called", op.Name)
		}
	}
}

// exampleOf fills in the arguments of an operation that this test knows something for.
func exampleOf(op c3po.Operation, known map[string]any) map[string]any {
	example := map[string]any{}
	for field := range op.In.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value, ok := known[name]; ok {
			example[name] = value
		}
	}
	return example
}

func TestBadRequestsAreRefusedWithWords(t *testing.T) {
	t.Parallel()
	s := onRedis(t, redistest.Shared(t))
	for name, c := range map[string]struct {
		ask    question
		status int
		word   string
	}{
		"no path of ours":         {question{path: "/api/nothing"}, 404, "nothing at this path"},
		"a path with more":        {question{path: "/api/agents/bob"}, 404, "nothing at this path"},
		"a post to a get":         {question{method: "POST", path: "/api/agents"}, 405, "not for POST"},
		"a get of an operation":   {question{path: "/agent/api/op/ping"}, 405, "not for GET"},
		"no operation of ours":    {question{path: "/api/op/teleport", body: `{}`}, 400, `no operation "teleport"`},
		"text, not JSON":          {question{path: "/api/op/ping", body: `{}`, header: map[string]string{"Content-Type": "text/plain"}}, 400, "must be JSON"},
		"a body without a type":   {question{path: "/api/op/ping", body: `{}`, header: map[string]string{"Content-Type": ""}}, 400, "must be JSON"},
		"half a body":             {question{path: "/api/op/ping", body: `{"`}, 400, "unexpected EOF"},
		"two bodies":              {question{path: "/api/op/ping", body: `{} {}`}, 400, "something after"},
		"a misspelt argument":     {question{path: "/api/op/send_message", as: "a", body: `{"target":"a","mesage":"x"}`}, 400, "mesage"},
		"an argument of no use":   {question{path: "/api/op/ping", body: `{"x":1}`}, 400, "x"},
		"a number for a text":     {question{path: "/api/op/send_message", as: "a", body: `{"target":1}`}, 400, "target"},
		"a body too large":        {question{path: "/api/op/ping", body: `"` + strings.Repeat("x", 2<<20) + `"`}, 400, "larger than"},
		"a body that is not text": {question{path: "/api/op/ping", body: "{\"\xff\":1}"}, 400, "UTF-8"},
		"a bad agent id":          {question{path: "/api/pending", as: "agent@home"}, 400, "agent@home"},
		"a reserved agent id":     {question{path: "/api/pending", as: "system"}, 400, "reserved"},
		"a bad space":             {question{path: "/api/agents", space: "Main"}, 400, "Main"},
		"a limit in words":        {question{path: "/api/agents?limit=many"}, 400, "limit"},
		"a cursor of no page":     {question{path: "/api/agents?cursor=%00"}, 400, "cursor"},
		"a status of no agent":    {question{path: "/api/agents?status=asleep"}, 400, "status"},
		"a wait of no time":       {question{path: "/api/wait?timeout=0", as: "a"}, 400, "between 1 and 3600"},
		"a wait of too long":      {question{path: "/api/wait?timeout=3601", as: "a"}, 400, "3600"},
		"a wait for a word":       {question{path: "/api/wait?timeout=soon", as: "a"}, 400, "timeout"},
		"a wait after a word":     {question{path: "/api/wait?after=x", as: "a"}, 400, "after"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := s.ask(t, c.ask).refused(t, c.status, c3po.InvalidRequest)
			if !strings.Contains(err.Message+" "+err.Suggestion, c.word) {
				t.Errorf("%q does not speak of %q", err.Message, c.word)
			}
		})
	}
}

func TestANewerClientIsToldWhatTheCoordinatorDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := onModel(t)
	newer := map[string]string{"X-C3PO-Client": "c3po/99.0.0 codex"}
	for _, ask := range []question{
		{path: "/api/op/send_message", as: "a", body: `{"target":"a","mood":"good"}`, header: newer},
		{path: "/api/op/teleport", as: "a", body: `{}`, header: newer},
	} {
		err := s.ask(t, ask).refused(t, 400, c3po.InvalidRequest)
		if !strings.Contains(err.Suggestion, "99.0.0") {
			t.Errorf("%s: %q says nothing of the versions", ask.path, err.Suggestion)
		}
	}
}

func TestAWrongMethodIsToldTheRightOne(t *testing.T) {
	t.Parallel()
	got := onModel(t).ask(t, question{path: "/api/unregister", as: "a"})
	if allow := got.header.Get("Allow"); got.status != http.StatusMethodNotAllowed || allow != "POST" {
		t.Errorf("answer %d with Allow %q, want 405 with POST", got.status, allow)
	}
}

func TestTheEleventhMessageOfAMinuteIsRefused(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.op(t, space, "bob", "ping", c3po.None{}, nil)
	for i := range 10 {
		s.op(t, space, "ann", "send_message", c3po.SendInput{Target: "bob", Message: fmt.Sprint("message ", i)}, nil)
	}
	got := s.ask(t, question{path: "/api/op/send_message", as: "ann", space: space, body: `{"target":"bob","message":"one more"}`})
	err := got.refused(t, http.StatusTooManyRequests, c3po.RateLimited)
	if !strings.Contains(err.Message, "10 of 10") || !strings.Contains(err.Suggestion, "60 seconds") {
		t.Errorf("count and limit are not named: %s", got.body)
	}
}

func TestEveryErrorSaysWhetherToTryAgain(t *testing.T) {
	t.Parallel()
	s := onRedis(t, redistest.Shared(t))
	got := s.ask(t, question{path: "/api/op/send_message", as: "ann", space: newSpace(), body: `{"target":"nobody","message":"x"}`})
	got.refused(t, http.StatusNotFound, c3po.AgentNotFound)
	var form map[string]any
	got.into(t, &form)
	if form["retry"] != "no" {
		t.Errorf("retry is %v, want no: %s", form["retry"], got.body)
	}
}

var nextPage = regexp.MustCompile(`^<(\?[^>]+)>; rel="next"$`)

func TestAListIsABareArrayAndLinksToItsNextPage(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	for _, id := range []string{"ann", "bob", "cas"} {
		s.op(t, space, id, "ping", c3po.None{}, nil)
	}
	var ids []c3po.AgentID
	path := "/api/agents?limit=2&status=online&unknown=ignored"
	for pages := 1; ; pages++ {
		got := s.ask(t, question{path: path, space: space})
		var page []c3po.Agent
		got.into(t, &page)
		for _, a := range page {
			ids = append(ids, a.ID)
		}
		link := nextPage.FindStringSubmatch(got.header.Get("Link"))
		if link == nil {
			if pages != 2 {
				t.Errorf("%d pages, want 2", pages)
			}
			break
		}
		if len(page) != 2 || pages > 2 {
			t.Fatalf("page %d has %d agents and a next", pages, len(page))
		}
		next, err := url.Parse(link[1])
		if err != nil || next.Query().Get("limit") != "2" || next.Query().Get("status") != "online" {
			t.Fatalf("the link %q does not keep the request (%v)", link[1], err)
		}
		path = "/agent/api/agents" + link[1]
	}
	if diff := cmp.Diff([]c3po.AgentID{"ann", "bob", "cas"}, ids); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
}

func TestAPageOfMessagesSaysHowManyThereAre(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.op(t, space, "bob", "ping", c3po.None{}, nil)
	for _, text := range []string{"one", "two", "three"} {
		s.op(t, space, "ann", "send_message", c3po.SendInput{Target: "bob", Message: text}, nil)
	}
	var texts []string
	in := c3po.GetMessagesInput{Limit: 2}
	for {
		var page []c3po.Message
		got := s.op(t, space, "bob", "get_messages", in, &page)
		if count := got.header.Get("X-C3PO-Count"); count != "3" {
			t.Errorf("X-C3PO-Count is %q, want 3", count)
		}
		for _, m := range page {
			texts = append(texts, m.Message)
		}
		link := nextPage.FindStringSubmatch(got.header.Get("Link"))
		if link == nil {
			break
		}
		next, err := url.ParseQuery(link[1][1:])
		if err != nil || next.Get("cursor") == in.Cursor {
			t.Fatalf("the link %q leads nowhere new (%v)", link[1], err)
		}
		in.Cursor = next.Get("cursor")
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, texts); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}

	got := s.ask(t, question{path: "/api/pending?limit=1", as: "bob", space: space})
	var pending c3po.Pending
	got.into(t, &pending)
	if pending.Count != 3 || len(pending.Messages) != 1 || nextPage.FindStringSubmatch(got.header.Get("Link")) == nil {
		t.Errorf("a page of pending mail without count or link: %s %v", got.body, got.header)
	}
}

func TestEveryAnswerSaysWhoTheCallerActedAs(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	session := func(id string) map[string]string { return map[string]string{"X-Session-ID": id} }
	for _, c := range []struct {
		ask  question
		want string
	}{
		{question{path: "/api/op/ping", as: "api", header: session("one"), body: "{}"}, "api"},
		{question{path: "/api/op/ping", as: "api", header: session("two"), body: "{}"}, "api-2"},
		{question{path: "/api/pending", as: "api", header: session("two")}, "api-2"},
		{question{path: "/api/op/send_message", as: "api", header: session("two"), body: `{"target":"nobody","message":"x"}`}, "api-2"},
		{question{path: "/api/agents"}, ""},
	} {
		c.ask.space = space
		got := s.ask(t, c.ask)
		if id := got.header.Get("X-C3PO-Agent-ID"); id != c.want {
			t.Errorf("%s acted as %q, want %q", c.ask.path, id, c.want)
		}
		if epoch := got.header.Get("X-C3PO-Epoch"); (epoch != "") != (c.want != "") {
			t.Errorf("%s as %q has epoch %q", c.ask.path, c.want, epoch)
		}
	}
}

func TestSpacesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	s := onRedis(t, redistest.Shared(t))
	here, there := newSpace(), newSpace()
	s.op(t, here, "ann", "ping", c3po.None{}, nil)
	got := s.ask(t, question{path: "/api/agents", space: there})
	if string(got.body) != "[]\n" {
		t.Errorf("the agents of another space: %s", got.body)
	}
	s.ask(t, question{path: "/api/op/send_message", as: "bob", space: there, body: `{"target":"ann","message":"x"}`}).
		refused(t, http.StatusNotFound, c3po.AgentNotFound)
}

func TestLookingAtPendingMailIsNotServing(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	s.op(t, space, "bob", "ping", c3po.None{}, nil)
	var sent c3po.Receipt
	s.op(t, space, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "x"}, &sent)
	s.ask(t, question{path: "/api/pending", as: "bob", space: space})
	s.ask(t, question{path: "/api/wait?timeout=1", as: "bob", space: space})
	s.op(t, space, "bob", "peek", c3po.GetMessagesInput{}, nil)
	// Served mail is remembered by the hub at once: the first real read shows it.
	var mail []c3po.Message
	s.op(t, space, "bob", "get_messages", c3po.GetMessagesInput{}, &mail)
	if len(mail) != 1 || mail[0].Redelivered || mail[0].Deliveries != 1 {
		t.Fatalf("the first read is not the first delivery: %+v", mail)
	}
	s.op(t, space, "bob", "get_messages", c3po.GetMessagesInput{}, &mail)
	if len(mail) != 1 || !mail[0].Redelivered {
		t.Errorf("the second read is not marked as one: %+v", mail)
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	t.Parallel()
	got := onModel(t).ask(t, question{path: "/openapi.yaml"})
	if got.status != http.StatusOK || !strings.Contains(string(got.body), "\nopenapi: 3.1") {
		t.Errorf("answer %d %.40s", got.status, got.body)
	}
}
