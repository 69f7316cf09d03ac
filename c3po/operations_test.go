package c3po_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// echo is a Service that only tells what arrived: it stands for any service.
type echo struct {
	c3po.Service
	sent c3po.SendInput
}

func (e *echo) SendMessage(_ context.Context, in c3po.SendInput) (c3po.Receipt, error) {
	e.sent = in
	return c3po.Receipt{}, nil
}

func (e *echo) WaitForMessage(context.Context, c3po.WaitInput) (c3po.WaitResult, error) {
	return c3po.WaitResult{}, nil
}

func (e *echo) Tickets(context.Context, c3po.TicketsInput) (c3po.TicketList, error) {
	return c3po.TicketList{Tickets: []c3po.Ticket{{}}}, nil
}

func sendOperation(t testing.TB) c3po.Operation {
	t.Helper()
	op, err := dialect.FindOperation("send_message")
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestAMisspeltArgumentIsRefusedNotIgnored(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{
		`{"target":"b","message":"hi","mesage":"x"}`, `{"target":7}`, `[]`, `"x"`, `{"target":"b"} {}`, "{\"message\":\"\xff\"}", `{`,
	} {
		_, err := sendOperation(t).Call(t.Context(), &echo{}, []byte(arguments))
		if got := c3po.AsError(err); err == nil || got.Code != c3po.InvalidRequest || got.Suggestion == "" {
			t.Errorf("%s = %v, want INVALID_REQUEST with a suggestion", arguments, err)
		}
	}
}

// The contract has 1-3600 seconds. An argument that is left out is the default; a
// 0 that was written is out of range on every surface.
func TestAWaitOfZeroSecondsIsRefused(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"wait_for_message":    `{"timeout":0}`,
		"wait_for_response":   `{"request_id":"a::b::00000001","timeout":0}`,
		"wait_for_request":    `{"timeout": 0}`,
		"await_reply":         `{"ticketId":"a::b::00000001","timeoutMs":0}`,
		"bridge_send_message": `{"agentId":"b","payload":"hi","timeoutMs":0}`,
	} {
		op, err := dialect.FindOperation(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = op.Call(t.Context(), &echo{}, []byte(arguments))
		if got := c3po.AsError(err); err == nil || got.Code != c3po.InvalidRequest || !strings.Contains(got.Message, "between 1 and 3600") {
			t.Errorf("%s(%s) = %v, want INVALID_REQUEST that names the range", name, arguments, err)
		}
	}
}

func TestNoArgumentsAreNone(t *testing.T) {
	t.Parallel()
	if _, err := sendOperation(t).Call(t.Context(), &echo{}, nil); err != nil {
		t.Error(err)
	}
}

func TestEveryCodeHasAStatusAndAnAdvice(t *testing.T) {
	t.Parallel()
	for code, want := range map[c3po.Code]struct {
		status int
		retry  c3po.Retry
	}{
		c3po.InvalidRequest: {400, c3po.RetryNo}, c3po.AgentNotFound: {404, c3po.RetryNo}, c3po.KeyConflict: {409, c3po.RetryNo},
		c3po.RateLimited: {429, c3po.RetryLater}, c3po.RedisUnavailable: {503, c3po.RetrySameKey},
		c3po.UnknownOutcome: {502, c3po.RetrySameKey}, c3po.Internal: {500, c3po.RetrySameKey},
	} {
		if code.Status() != want.status || code.Retry() != want.retry {
			t.Errorf("%s = %d %s, want %d %s", code, code.Status(), code.Retry(), want.status, want.retry)
		}
	}
}

func TestAnErrorKeepsItsCodeOverTheWireAndItsCauseBehindIt(t *testing.T) {
	t.Parallel()
	cause := errors.New("secret detail")
	text, err := json.Marshal(c3po.Because(cause, c3po.StoreFull, "full").Suggest("wait"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"code":"STORE_FULL","error":"full","suggestion":"wait","retry":"same_key"}`; string(text) != want {
		t.Errorf("wire form = %s, want %s", text, want)
	}
	var back c3po.Error
	if err := json.Unmarshal(text, &back); err != nil || !errors.Is(&back, c3po.StoreFull) {
		t.Errorf("back = %+v, %v", back, err)
	}
	if got := c3po.AsError(cause); got.Code != c3po.Internal || strings.Contains(got.Message, "secret") || !errors.Is(got, cause) {
		t.Errorf("AsError of a stranger = %+v", got)
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{}`, `{"target":"b","message":"hi","metadata":{"a":[1]}}`, `{"message":"\ud800"}`, `null`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		e := &echo{}
		_, err := sendOperation(t).Call(context.Background(), e, arguments)
		if err != nil {
			if got := c3po.AsError(err); got.Code != c3po.InvalidRequest {
				t.Errorf("%q = %v, want INVALID_REQUEST", arguments, err)
			}
			return
		}
		if !utf8.ValidString(e.sent.Message) {
			t.Errorf("%q let text through that is not UTF-8", arguments)
		}
	})
}

// A new operation is recorded, or it is in this test's way.
func TestEverythingAPersonDoesIsRecordedAndNothingAnAgentDoes(t *testing.T) {
	t.Parallel()
	for _, o := range dialect.Operations() {
		if o.Name == "file_append" { // a part of file_begin, which has the entry
			continue
		}
		if o.Allows(c3po.RoleHuman) && o.Recorded(c3po.RoleHuman, c3po.Human) == o.ReadOnly {
			t.Errorf("%s by a person: recorded %v, read-only %v", o.Name, !o.ReadOnly, o.ReadOnly)
		}
		if o.Recorded(c3po.RoleAdmin, c3po.Human) == o.ReadOnly {
			t.Errorf("%s by an admin as the person: recorded %v, read-only %v", o.Name, !o.ReadOnly, o.ReadOnly)
		}
		if !o.Allows(c3po.RoleAgent) && o.Recorded(c3po.RoleAdmin, "") == o.ReadOnly {
			t.Errorf("%s, which is a person's, by an admin: recorded %v, read-only %v", o.Name, !o.ReadOnly, o.ReadOnly)
		}
		if o.Allows(c3po.RoleAgent) && o.Recorded(c3po.RoleAgent, "api") {
			t.Errorf("%s by an agent is recorded", o.Name)
		}
	}
}

// A witness is told of what was carried out, and of nothing else.
type witness struct {
	c3po.Service
	role c3po.Role
	done []string
}

func (w *witness) Role() c3po.Role { return w.role }

func (w *witness) Done(_ context.Context, o c3po.Operation, _ []byte) {
	w.done = append(w.done, o.Name)
}

func (w *witness) Ping(context.Context, c3po.None) (c3po.Pong, error) { return c3po.Pong{}, nil }

func (w *witness) Sweep(context.Context, c3po.SweepInput) (c3po.SweepResult, error) {
	return c3po.SweepResult{}, c3po.Errorf(c3po.Internal, "no")
}

func TestAWitnessIsToldOfWhatWasCarriedOut(t *testing.T) {
	t.Parallel()
	w := &witness{role: c3po.RoleHuman}
	for _, name := range []string{"ping", "sweep", "reply"} { // the second fails, the third is not a person's
		o, err := dialect.FindOperation(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = o.Call(t.Context(), w, []byte("{}"))
	}
	if len(w.done) != 1 || w.done[0] != "ping" {
		t.Errorf("told of %v", w.done)
	}
}

// encoding/json would read every half as the same other character.
func TestTextWithHalfACharacterIsRefused(t *testing.T) {
	t.Parallel()
	type input struct {
		Text string `json:"text"`
	}
	for text, half := range map[string]string{
		`a\ud800b`:                 `\ud800`,
		`\uDE00\uD83D`:             `\uDE00`,
		`\ud83d\ud83d\ude00`:       `\ud83d`,
		`\n\\\udbff`:               `\udbff`,
		`cut \ud83d`:               `\ud83d`,
		`\ud83d\ude00 \u00e4`:      "",
		`\\ud800`:                  "",
		`C:\\users\\ud800\\\u0041`: "",
	} {
		_, err := c3po.Decode[input]([]byte(`{"text":"` + text + `"}`))
		if half == "" && err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if half != "" && (!errors.Is(err, c3po.InvalidRequest) || !strings.Contains(err.Error(), half)) {
			t.Errorf("%s: %v, want it to name %s", text, err, half)
		}
	}
}

// Decoders are used again: what one call was given must never be seen by the next, nor
// changed by it.
func TestTheArgumentsOfOneCallNeverReachAnother(t *testing.T) {
	t.Parallel()
	type input struct {
		Text string          `json:"text"`
		Raw  json.RawMessage `json:"raw"`
	}
	first, err := c3po.Decode[input]([]byte(`{"text":"first","raw":{"secret":"` + strings.Repeat("s", 500) + `"}}` + "  \n"))
	if err != nil {
		t.Fatal(err)
	}
	kept := string(first.Raw)
	for _, wrong := range []string{`{"text":"cut`, `{"text":"two"} {"text":"left over"}`, `{"text":1}`, `{"other":1}`, `{} x`} {
		if _, err := c3po.Decode[input]([]byte(wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
		next, err := c3po.Decode[input]([]byte(`{"raw":{"public":true}}`))
		if err != nil || next.Text != "" || string(next.Raw) != `{"public":true}` {
			t.Errorf("after %q, another call is given %+v: %v", wrong, next, err)
		}
	}
	if string(first.Raw) != kept {
		t.Errorf("what the first call was given is now %s", first.Raw)
	}
}
