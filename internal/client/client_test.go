package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

func TestErrorsKeepTheirCodeOverTheWire(t *testing.T) {
	t.Parallel()
	for _, code := range []c3po.Code{
		c3po.InvalidRequest, c3po.Unauthorized, c3po.Forbidden, c3po.AgentNotFound, c3po.KeyConflict, c3po.AgentUnavailable,
		c3po.RateLimited, c3po.BudgetSpent, c3po.InboxFull, c3po.Superseded, c3po.Internal,
	} {
		s := newScript(t, refuses(c3po.Errorf(code, "no").Suggest("do that")))
		_, err := s.client(t, client.Config{}).Ping(t.Context(), c3po.None{})
		if !errors.Is(err, code) {
			t.Errorf("%s came back as %v", code, err)
			continue
		}
		if e := c3po.AsError(err); e.Message != "no" || e.Suggestion != "do that" {
			t.Errorf("%s came back with %q and %q", code, e.Message, e.Suggestion)
		}
		if n := len(s.requests()); n != 1 {
			t.Errorf("%s was asked for %d times", code, n)
		}
	}
}

func TestAListingComesBackWhole(t *testing.T) {
	t.Parallel()
	want := c3po.MessageList{Messages: []c3po.Message{{ID: "a::b::00000001", Message: "hi"}}, Next: "x/y", Count: 7}
	s := newScript(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `<?cursor=x%2Fy>; rel="next"`)
		w.Header().Set("X-C3PO-Count", "7")
		answers(want.Messages)(w, r)
	})
	got, err := s.client(t, client.Config{}).GetMessages(t.Context(), c3po.GetMessagesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheClientSaysWhoItIsAndLearnsWhoItBecame(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-C3PO-Agent-ID", "api-2")
		w.Header().Set("X-C3PO-Epoch", "3")
		answers(c3po.Pong{Pong: true})(w, r)
	}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-C3PO-Agent-ID", "api")
		w.Header().Set("X-C3PO-Epoch", "4")
		answers(c3po.Pong{Pong: true})(w, r)
	})
	c := s.client(t, client.Config{
		AgentID: "api", Space: "lab", Session: "s1", Run: "box:1:2", ClientName: "codex", Version: "1.2", Token: "c3po_x", Ancestors: []string{"box:1:2", "box:3:4"},
	})
	if c.ID() != "api" || c.Epoch() != 0 {
		t.Errorf("before any answer: %s, %d", c.ID(), c.Epoch())
	}
	from := c3po.TraceContext{Trace: c3po.TraceID{1}, Span: c3po.SpanID{2}, State: "a=b"}
	ctx := c3po.WithTrace(t.Context(), from)
	for _, want := range []struct {
		id    c3po.AgentID
		epoch int64
	}{{"api-2", 3}, {"api", 4}, {"api", 4}} {
		if _, err := c.Ping(ctx, c3po.None{}); err != nil {
			t.Fatal(err)
		}
		if c.ID() != want.id || c.Epoch() != want.epoch {
			t.Errorf("it is %s, %d; want %s, %d", c.ID(), c.Epoch(), want.id, want.epoch)
		}
	}
	calls := s.requests()
	for name, want := range map[string]string{
		"X-Agent-ID": "api", "X-C3PO-Space": "lab", "X-Session-ID": "s1", "X-C3PO-Run": "box:1:2", "X-C3PO-Client": "c3po/1.2 codex",
		"Authorization": "Bearer c3po_x", "X-C3PO-Ancestors": "box:1:2,box:3:4", "Content-Type": "application/json", "Traceparent": from.Parent(), "Tracestate": "a=b", "X-C3PO-Closed": "",
		"X-C3PO-Protocol": c3po.OwnProtocols().String(),
	} {
		if got := calls[0].header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// The epoch of api-2 says nothing about api.
	for i, want := range []string{"", "", "4"} {
		if got := calls[i].header.Get("X-C3PO-Epoch"); got != want {
			t.Errorf("call %d carries the epoch %q, want %q", i, got, want)
		}
	}
}

func TestAClientSaysNothingThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := newScript(t, answers(c3po.Health{}))
	if _, err := s.client(t, client.Config{}).Health(c3po.WithTrace(t.Context(), c3po.TraceContext{})); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "X-Agent-ID", "X-C3PO-Space", "X-C3PO-Run", "X-Session-ID", "X-C3PO-Epoch", "X-C3PO-Closed", "X-C3PO-Proof", "Tracestate", "Content-Type"} {
		if got, given := s.requests()[0].header[http.CanonicalHeaderKey(name)]; given {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestAClosedSessionIsCalledForByACopyOfItsClient(t *testing.T) {
	t.Parallel()
	s := newScript(t, answers(c3po.Pong{Pong: true}))
	c := s.client(t, client.Config{AgentID: "api", Session: "s1", Token: "c3po_x"})
	closed := c.ForClosed()
	fromStart := s.client(t, client.Config{AgentID: "api", Session: "s1", Token: "c3po_x", Closed: true})
	for i, test := range []struct {
		*client.Client
		said string
	}{{c, ""}, {closed, "1"}, {fromStart, "1"}} {
		if _, err := test.Ping(t.Context(), c3po.None{}); err != nil {
			t.Fatal(err)
		}
		got := s.requests()[i].header
		if got.Get("X-C3PO-Closed") != test.said || got.Get("X-Agent-ID") != "api" || got.Get("X-Session-ID") != "s1" || got.Get("Authorization") != "Bearer c3po_x" {
			t.Errorf("client %d says %v", i, got)
		}
	}
}

func TestARefusalAlsoSaysWhoTheClientBecame(t *testing.T) {
	t.Parallel()
	s := newScript(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-C3PO-Agent-ID", "api-2")
		refuses(c3po.Errorf(c3po.Forbidden, "no"))(w, r)
	})
	c := s.client(t, client.Config{AgentID: "api"})
	if _, err := c.Ping(t.Context(), c3po.None{}); !errors.Is(err, c3po.Forbidden) || c.ID() != "api-2" {
		t.Errorf("it is %s after %v", c.ID(), err)
	}
}

func TestAWriteIsRepeatedUnderOneKey(t *testing.T) {
	t.Parallel()
	writes := map[string]func(context.Context, *client.Client) error{
		"send": func(ctx context.Context, c *client.Client) error {
			_, err := c.SendMessage(ctx, c3po.SendInput{Target: "b", Message: "hi"})
			return err
		},
		"reply": func(ctx context.Context, c *client.Client) error {
			_, err := c.Reply(ctx, c3po.ReplyInput{MessageID: "a::b::00000001", Response: "hi"})
			return err
		},
		"escalate": func(ctx context.Context, c *client.Client) error {
			_, err := c.EscalateToHuman(ctx, c3po.EscalateInput{Reason: "why"})
			return err
		},
		"post": func(ctx context.Context, c *client.Client) error {
			_, err := c.RoomPost(ctx, c3po.RoomPostInput{Room: "r", Message: "hi"})
			return err
		},
		"broadcast": func(ctx context.Context, c *client.Client) error {
			_, err := c.Broadcast(ctx, c3po.BroadcastInput{Message: "hi"})
			return err
		},
		"answer": func(ctx context.Context, c *client.Client) error {
			_, err := c.HumanAnswer(ctx, c3po.AnswerInput{MessageID: "a::human::00000001", Response: "yes"})
			return err
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t, hangsUp, refuses(c3po.Errorf(c3po.UnknownOutcome, "lost")),
					refuses(c3po.Errorf(c3po.RedisUnavailable, "gone")), answers(map[string]any{}))
				if err := write(t.Context(), s.client(t, client.Config{})); err != nil {
					t.Fatal(err)
				}
				keys := s.said("client_key")
				if len(keys) != 4 {
					t.Fatalf("%d attempts, want 4", len(keys))
				}
				for _, key := range keys {
					if key == nil || key != keys[0] {
						t.Errorf("the keys are %q", keys)
					}
				}
			})
		})
	}
}

func TestAKeyOfTheCallersIsKept(t *testing.T) {
	t.Parallel()
	s := newScript(t, answers(c3po.Receipt{}))
	if _, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "x", ClientKey: "mine"}); err != nil {
		t.Fatal(err)
	}
	if got := s.said("client_key"); got[0] != "mine" {
		t.Errorf("the key became %v", got[0])
	}
}

func TestAnotherPageOfABroadcastSendsNothing(t *testing.T) {
	t.Parallel()
	s := newScript(t, answers(c3po.BroadcastReceipt{}))
	if _, err := s.client(t, client.Config{}).Broadcast(t.Context(), c3po.BroadcastInput{Cursor: "next"}); err != nil {
		t.Fatal(err)
	}
	if got := s.said("client_key"); got[0] != nil {
		t.Errorf("it carries the key %v", got[0])
	}
}

func TestAWriteWithoutAnAnswerIsNotCalledAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		// It arrives once, then nothing can be reached any more: the first attempt
		// is still in doubt, whatever the later ones say.
		var s *script
		s = newScript(t, thenGoesDown(&s, hangsUp))
		_, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi"})
		if !errors.Is(err, c3po.UnknownOutcome) {
			t.Errorf("SendMessage = %v, want %s", err, c3po.UnknownOutcome)
		}
		if took := time.Since(began); took < 3*time.Second || took > 6*time.Second {
			t.Errorf("it gave up after %v", took)
		}
	})
}

// A refusal of the repeat can come before anybody looked its key up.
func TestARefusedRepeatDoesNotSettleTheFirstAttempt(t *testing.T) {
	t.Parallel()
	for _, code := range []c3po.Code{
		c3po.InvalidRequest, c3po.Unauthorized, c3po.Forbidden, c3po.AgentNotFound, c3po.TicketNotFound, c3po.KeyConflict, c3po.AgentUnavailable,
		c3po.RateLimited, c3po.BudgetSpent, c3po.InboxFull, c3po.RedisUnavailable, c3po.StoreFull, c3po.Superseded, c3po.Internal,
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t, hangsUp, refuses(c3po.Errorf(code, "no")))
				if _, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi"}); !errors.Is(err, c3po.UnknownOutcome) {
					t.Errorf("SendMessage = %v, want %s", err, c3po.UnknownOutcome)
				}
				s = newScript(t, hangsUp, refuses(c3po.Errorf(code, "no")))
				if _, err := s.client(t, client.Config{}).WhoAmI(t.Context(), c3po.None{}); !errors.Is(err, code) {
					t.Errorf("WhoAmI = %v, want %s", err, code)
				}
			})
		})
	}
}

func TestARefusalThatLookedTheKeyUpSettlesTheFirstAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refusal := c3po.Errorf(c3po.InboxFull, "no")
		refusal.NotStored = true
		s := newScript(t, hangsUp, refuses(refusal))
		if _, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi"}); !errors.Is(err, c3po.InboxFull) {
			t.Errorf("SendMessage = %v, want %s", err, c3po.InboxFull)
		}
	})
}

func TestAReadWithoutAnAnswerIsACoordinatorThatIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, hangsUp)
		_, err := s.client(t, client.Config{}).WhoAmI(t.Context(), c3po.None{})
		if !errors.Is(err, c3po.CoordDown) {
			t.Errorf("WhoAmI = %v, want %s", err, c3po.CoordDown)
		}
	})
}

func TestARedisThatStaysAwayIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, refuses(c3po.Errorf(c3po.RedisUnavailable, "Redis is not reachable")))
		_, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi"})
		if !errors.Is(err, c3po.RedisUnavailable) {
			t.Errorf("SendMessage = %v, want %s", err, c3po.RedisUnavailable)
		}
		if n := len(s.requests()); n < 3 {
			t.Errorf("it tried %d times", n)
		}
	})
}

func TestNobodyThereIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, answers(nil))
		s.setDown(true)
		began := time.Now()
		_, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi"})
		if !errors.Is(err, c3po.CoordDown) {
			t.Fatalf("SendMessage = %v, want %s", err, c3po.CoordDown)
		}
		e := c3po.AsError(err)
		if e.Message != "c3po coordinator is not reachable." {
			t.Errorf("the sentence is %q", e.Message)
		}
		if e.Suggestion != "You can continue working locally." {
			t.Errorf("the suggestion is %q", e.Suggestion)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestSomethingElseOnThePortIsRecognised(t *testing.T) {
	t.Parallel()
	const plain = "Client sent an HTTP request to an HTTPS server.\n"
	for _, test := range []struct {
		status int
		text   string
		code   c3po.Code
		says   string
	}{
		{200, "<html>hello</html>", c3po.Internal, "is not a c3po coordinator"},
		{404, "<html>hello</html>", c3po.Internal, "is not a c3po coordinator"},
		{404, plain, c3po.Internal, "is not a c3po coordinator"},
		{400, "<html>hello</html>", c3po.Internal, "is not a c3po coordinator"},
		{400, plain, c3po.InvalidRequest, "speaks https"},
		{403, `{"code":"FORBIDDEN","error":5}`, c3po.Internal, "is not a c3po coordinator"},
		{500, `{"error":"Redis is away"}`, c3po.Internal, "Redis is away"},
		{500, `{}`, c3po.Internal, "is not a c3po coordinator"},
	} {
		_, err := newScript(t, speaks(test.status, test.text)).client(t, client.Config{}).Ping(t.Context(), c3po.None{})
		if !errors.Is(err, test.code) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%d %q makes %v, want %s: %s", test.status, test.text, err, test.code, test.says)
		}
	}
}

// A proxy that gave up cannot know what the coordinator did.
func TestAnAnswerOfAProxyThatGaveUpIsALostAnswer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				page := speaks(status, "<html>nginx</html>")
				s := newScript(t, page, answers(c3po.Receipt{Message: mail}))
				got, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi"})
				if keys := s.said("client_key"); err != nil || got.ID != mail.ID || len(keys) != 2 || keys[0] != keys[1] {
					t.Errorf("when it is over, a message sent with the keys %v ends with %v", keys, err)
				}
				s = newScript(t, page)
				if _, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi"}); !errors.Is(err, c3po.UnknownOutcome) {
					t.Errorf("a write ends with %v", err)
				}
				if _, err := s.client(t, client.Config{}).WhoAmI(t.Context(), c3po.None{}); !errors.Is(err, c3po.CoordDown) {
					t.Errorf("a read ends with %v", err)
				}
			})
		})
	}
}

func TestAnAddressThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	_, err := client.New(client.Config{URL: "http://a b"}).Ping(t.Context(), c3po.None{})
	if !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("Ping = %v, want %s", err, c3po.InvalidRequest)
	}
}

func TestACancelledCallSaysWhetherItMayHaveBeenCarriedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, after(time.Minute, answers(map[string]any{})))
		c := s.client(t, client.Config{})
		cancelled := func() context.Context {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errors.New("a signal came")) })
			return ctx
		}
		if _, err := c.WhoAmI(cancelled(), c3po.None{}); !errors.Is(err, context.Canceled) || errors.Is(err, c3po.UnknownOutcome) {
			t.Errorf("a cancelled read: %v", err)
		}
		if _, err := c.SendMessage(cancelled(), c3po.SendInput{Target: "b", Message: "hi"}); !errors.Is(err, context.Canceled) || !errors.Is(err, c3po.UnknownOutcome) {
			t.Errorf("a cancelled write: %v", err)
		}
	})
}

func TestAnotherSessionOfTheSameClientIsSaidFromThenOn(t *testing.T) {
	t.Parallel()
	s := newScript(t, answers(c3po.Pong{Pong: true}), answers(c3po.Pong{Pong: true}))
	c := s.client(t, client.Config{Session: "s1", Run: "box:1:2"})
	for _, session := range []string{"s1", "s2"} {
		c.SetSession(session)
		if _, err := c.Ping(t.Context(), c3po.None{}); err != nil {
			t.Fatal(err)
		}
		got := s.requests()
		last := got[len(got)-1].header
		if last.Get("X-Session-ID") != session || last.Get("X-C3PO-Run") != "box:1:2" {
			t.Errorf("said session %q of run %q", last.Get("X-Session-ID"), last.Get("X-C3PO-Run"))
		}
	}
}

func TestAClientKnowsThatItLostTheCoordinatorAndThatItIsBack(t *testing.T) {
	t.Parallel()
	s := newScript(t, answers(c3po.Pong{Pong: true}))
	c := s.client(t, client.Config{})
	if c.Lost() {
		t.Error("a client that has not tried has lost the coordinator")
	}
	s.setDown(true)
	if _, err := c.Ping(t.Context(), c3po.None{}); err == nil || !c.Lost() {
		t.Errorf("when it is away: %v, %v", err, c.Lost())
	}
	s.setDown(false)
	if _, err := c.Ping(t.Context(), c3po.None{}); err != nil || c.Lost() {
		t.Errorf("when it is back: %v, %v", err, c.Lost())
	}
}
