package c3po_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/c3po-dev/c3po"
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
	op, err := c3po.FindOperation("send_message")
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// Claims: A10
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
// Claims: A11
func TestAWaitOfZeroSecondsIsRefused(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"wait_for_message":    `{"timeout":0}`,
		"wait_for_response":   `{"request_id":"a::b::00000001","timeout":0}`,
		"wait_for_request":    `{"timeout": 0}`,
		"await_reply":         `{"ticketId":"a::b::00000001","timeoutMs":0}`,
		"bridge_send_message": `{"agentId":"b","payload":"hi","timeoutMs":0}`,
	} {
		op, err := c3po.FindOperation(name)
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

// Claims: A10
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

// Claims: A10
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
