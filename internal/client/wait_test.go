package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

func timesOut(seconds int, seq int64) step {
	return after(time.Duration(seconds)*time.Second, answers(c3po.WaitResult{Cursor: seq, Outcome: &c3po.WaitOutcome{
		Status: c3po.WaitTimeout, Code: c3po.Timeout, Message: fmt.Sprintf("No message received within %d seconds", seconds),
	}}))
}

func drains(w http.ResponseWriter, r *http.Request) {
	answers(c3po.WaitResult{Outcome: &c3po.WaitOutcome{Status: c3po.WaitRetry, Code: c3po.Timeout, RetryAfterMS: 700}})(w, r)
}

var mail = c3po.Message{ID: "a::b::00000001", FromAgent: "a", Message: "hi", Seq: 9}

func TestALongWaitIsCutIntoSlices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, timesOut(50, 4), timesOut(50, 6), timesOut(20, 6))
		began := time.Now()
		got, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 120})
		if err != nil {
			t.Fatal(err)
		}
		if got.Outcome == nil || got.Outcome.Message != "No message received within 120 seconds" {
			t.Errorf("the wait ended with %+v", got.Outcome)
		}
		if took := time.Since(began); took != 120*time.Second {
			t.Errorf("it took %v", took)
		}
		if diff := cmp.Diff([]any{50., 50., 20.}, s.said("timeout")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]any{nil, 4., 6.}, s.said("after")); diff != "" {
			t.Error("the position is not passed on:", diff)
		}
	})
}

// A wait that went back would bring mail twice.
func TestTheCursorOfAWaitNeverGoesBack(t *testing.T) {
	t.Parallel()
	ten := int64(10)
	for name, test := range map[string]struct {
		given *int64
		seqs  [2]int64
		want  []any
	}{
		"it goes up":                         {nil, [2]int64{4, 6}, []any{nil, 4., 6.}},
		"an earlier position":                {nil, [2]int64{6, 4}, []any{nil, 6., 6.}},
		"no position":                        {nil, [2]int64{0, 4}, []any{nil, nil, 4.}},
		"a position before the caller's own": {&ten, [2]int64{9, 11}, []any{10., 10., 11.}},
		"no position after the caller's own": {&ten, [2]int64{0, 10}, []any{10., 10., 10.}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t, timesOut(50, test.seqs[0]), timesOut(50, test.seqs[1]), answers(c3po.WaitResult{Message: mail}))
				if _, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 120, After: test.given}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, s.said("after")); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestADrainingCoordinatorIsAskedAgainWhenItSaidSo(t *testing.T) {
	t.Parallel()
	for after, want := range map[int]time.Duration{0: 50 * time.Millisecond, 10: 50 * time.Millisecond, 700: 700 * time.Millisecond, 20_000: 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t, answers(c3po.WaitResult{Outcome: &c3po.WaitOutcome{Status: c3po.WaitRetry, Code: c3po.Timeout, RetryAfterMS: after}}),
				answers(c3po.WaitResult{Message: mail}))
			began := time.Now()
			got, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60})
			if took := time.Since(began); err != nil || got.ID != mail.ID || took != want {
				t.Errorf("told to come back after %d ms it came after %v: %v", after, took, err)
			}
		})
	}
}

func TestAWaitThatFailsTriesAboutOnceASecond(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]step{"hanging up": hangsUp, "refusing for now": refuses(c3po.Errorf(c3po.RedisUnavailable, "not yet"))} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t, answers(c3po.Pong{}), fails)
			c := s.client(t, client.Config{})
			if _, err := c.Ping(t.Context(), c3po.None{}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60}); err == nil {
				t.Errorf("%s: no error", name)
			}
			if n := len(s.requests()); n < 40 || n > 150 {
				t.Errorf("%s: it tried %d times in a minute", name, n)
			}
		})
	}
}

func TestACoordinatorThatIsStartingIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, answers(c3po.WaitResult{Message: mail}))
		s.setDown(true)
		time.AfterFunc(2*time.Second, func() { s.setDown(false) })
		if got, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60}); err != nil || got.ID != mail.ID {
			t.Errorf("the wait brought %+v, %v", got, err)
		}
	})
}

func TestAWaitForOneAnswerHasNoPosition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, timesOut(50, 4), timesOut(10, 4))
		if _, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60, MessageID: mail.ID}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{nil, nil}, s.said("after")); diff != "" {
			t.Error(diff)
		}
		s = newScript(t, answers(c3po.WaitResult{Message: mail}))
		for _, in := range []c3po.WaitInput{{}, {MessageID: mail.ID, Asked: &c3po.Asked{ID: "a", Epoch: 3}}} {
			if _, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]any{nil, map[string]any{"id": "a", "epoch": 3.}}, s.said("asked")); diff != "" {
			t.Error("what is known of the asked agent:", diff)
		}
	})
}

func TestWhatIsKnownOfTheAskedIsPassedFromSliceToSlice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := &c3po.Asked{ID: "a", Epoch: 3, Online: true}
		ends := func(status string, asked *c3po.Asked) step {
			return answers(c3po.WaitResult{Outcome: &c3po.WaitOutcome{Status: status, Code: c3po.Timeout, Asked: asked}})
		}
		s := newScript(t, after(50*time.Second, ends(c3po.WaitTimeout, known)), drains, ends(c3po.WaitOffline, nil))
		got, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 120, MessageID: mail.ID})
		if err != nil || got.Outcome == nil || got.Outcome.Status != c3po.WaitOffline {
			t.Fatalf("the wait ended with %+v, %v", got.Outcome, err)
		}
		said := map[string]any{"id": "a", "epoch": 3., "online": true}
		if diff := cmp.Diff([]any{map[string]any{}, said, said}, s.said("asked")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAWaitOutlivesARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s *script
		s = newScript(t, thenGoesDown(&s, drains), refuses(c3po.Errorf(c3po.RedisUnavailable, "not yet")), hangsUp,
			answers(c3po.WaitResult{Message: mail, Cursor: 9, Unacked: 1}))
		time.AfterFunc(20*time.Second, func() { s.setDown(false) })
		began := time.Now()
		got, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60})
		if err != nil {
			t.Fatal(err)
		}
		if got.Outcome != nil || got.ID != mail.ID || got.Unacked != 1 {
			t.Errorf("the wait brought %+v", got)
		}
		if took := time.Since(began); took < 20*time.Second || took > 25*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestACoordinatorThatStaysAwayIsSaidWhenTheWaitIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s *script
		s = newScript(t, thenGoesDown(&s, drains))
		began := time.Now()
		_, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 60})
		if !errors.Is(err, c3po.CoordDown) {
			t.Errorf("WaitForMessage = %v, want %s", err, c3po.CoordDown)
		}
		if took := time.Since(began); took < 55*time.Second || took > 60*time.Second {
			t.Errorf("it was said after %v", took)
		}
	})
}

func TestACoordinatorThatWasNeverThereIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, answers(nil))
		s.setDown(true)
		began := time.Now()
		_, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 3600})
		if !errors.Is(err, c3po.CoordDown) {
			t.Errorf("WaitForMessage = %v, want %s", err, c3po.CoordDown)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it was said after %v", took)
		}
	})
}

func TestACancelledWaitEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, timesOut(50, 0))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(7*time.Second, cancel)
		began := time.Now()
		_, err := s.client(t, client.Config{}).WaitForMessage(ctx, c3po.WaitInput{Timeout: 60})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("WaitForMessage = %v, want %v", err, context.Canceled)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}

func TestPendingWaitsForTheFirstMail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, after(50*time.Second, answers(c3po.Pending{Messages: []c3po.Message{}, Seq: 3})), drains, answers(c3po.Pending{Count: 1, Messages: []c3po.Message{mail}, Seq: 9}))
		got, err := s.client(t, client.Config{}).Pending(t.Context(), c3po.PendingInput{Timeout: 300})
		if err != nil {
			t.Fatal(err)
		}
		if got.Count != 1 || got.Outcome != nil {
			t.Errorf("Pending = %+v", got)
		}
	})
}

func TestPendingEndsWhenTheAgentIsPausedOrResumed(t *testing.T) {
	t.Parallel()
	no, why := "", "lunch"
	for name, test := range map[string]struct {
		known, is *string
		slices    int
	}{
		"paused":                {&no, &why, 1},
		"resumed":               {&why, &no, 1},
		"still paused":          {&why, &why, 2},
		"nobody asked":          {nil, &why, 2},
		"an older coordinator":  {&no, nil, 2},
		"nothing known or said": {nil, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t, after(30*time.Second, answers(c3po.Pending{Messages: []c3po.Message{}, Paused: test.is})))
				got, err := s.client(t, client.Config{}).Pending(t.Context(), c3po.PendingInput{Timeout: 60, Paused: test.known})
				if err != nil || !cmp.Equal(got.Paused, test.is) {
					t.Fatalf("Pending = %+v, %v", got, err)
				}
				if diff := cmp.Diff([]any{50., 30.}[:test.slices], s.said("timeout")); diff != "" {
					t.Error("it asked for waits of other lengths:", diff)
				}
			})
		})
	}
}

func TestAWaitOfAnImpossibleLengthIsLeftToTheCoordinator(t *testing.T) {
	t.Parallel()
	for _, seconds := range []int{-1, 3601} {
		s := newScript(t, refuses(c3po.Errorf(c3po.InvalidRequest, "no")))
		_, err := s.client(t, client.Config{}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: seconds})
		if !errors.Is(err, c3po.InvalidRequest) || s.said("timeout")[0] != float64(seconds) {
			t.Errorf("a wait of %d seconds: %v, asked %v", seconds, err, s.said("timeout"))
		}
	}
}

func TestASendThatWaitsIsStoredOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reply := c3po.Message{ID: "b::a::00000002", MessageID: "a::b::00000001", Kind: c3po.KindReply, Response: "yes"}
		s := newScript(t, answers(c3po.Receipt{Message: mail}), timesOut(50, 1), answers(c3po.WaitResult{Message: reply}))
		got, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi", WaitSeconds: 90})
		if err != nil {
			t.Fatal(err)
		}
		if got.Reply == nil || got.Reply.Response != "yes" || got.Wait != nil {
			t.Errorf("the receipt is %+v", got)
		}
		calls := s.requests()
		if calls[0].path != "/api/op/send_message" || calls[0].body["wait_seconds"] != nil || calls[1].path != "/api/op/wait_for_message" {
			t.Errorf("it called %s and %s", calls[0].path, calls[1].path)
		}
	})
}

func TestASendThatIsRefusedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := newScript(t, refuses(c3po.Errorf(c3po.AgentNotFound, "no")))
	if _, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi", WaitSeconds: 30}); !errors.Is(err, c3po.AgentNotFound) {
		t.Errorf("SendMessage = %v", err)
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("it called %d times", n)
	}
}

func TestAReceiptSurvivesALostWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s *script
		s = newScript(t, thenGoesDown(&s, answers(c3po.Receipt{Message: mail})))
		got, err := s.client(t, client.Config{}).SendMessage(t.Context(), c3po.SendInput{Target: "b", Message: "hi", WaitSeconds: 30})
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != mail.ID || got.Wait == nil || got.Wait.Code != c3po.CoordDown {
			t.Errorf("the receipt is %+v, its wait %+v", got, got.Wait)
		}
	})
}

func TestAReceiptWhoseWaitWasEndedSaysOnlyWhatIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		s := newScript(t, answers(c3po.Receipt{Message: mail}), timesOut(30, 4))
		got, err := s.client(t, client.Config{}).SendMessage(ctx, c3po.SendInput{Target: "b", Message: "hi", WaitSeconds: 30})
		if err != nil || got.ID != mail.ID || got.Wait != nil || got.Reply != nil {
			t.Errorf("the receipt is %+v, its wait %+v, and the error %v", got, got.Wait, err)
		}
	})
}

func TestAWaitThatDoesNotSayLastsAsLongAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t, timesOut(7, 4))
		got, err := s.client(t, client.Config{WaitDefault: 7 * time.Second}).WaitForMessage(t.Context(), c3po.WaitInput{})
		if err != nil || got.Outcome == nil {
			t.Fatalf("the wait ended with %+v, %v", got.Outcome, err)
		}
		if diff := cmp.Diff([]any{7.}, s.said("timeout")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAWaitEndsBeforeTheProgramCutsIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked int
		step  step
		took  int
		cut   bool
	}{
		"a longer wait":    {3600, timesOut(50, 4), 50, true},
		"a wait as long":   {50, timesOut(50, 4), 50, false},
		"a shorter wait":   {20, timesOut(20, 4), 20, false},
		"an answer":        {3600, answers(c3po.WaitResult{Message: mail}), 0, false},
		"an agent is away": {3600, answers(c3po.WaitResult{Outcome: &c3po.WaitOutcome{Status: c3po.WaitOffline, Code: c3po.Timeout}}), 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t, test.step)
			began := time.Now()
			got, err := s.client(t, client.Config{MaxWait: 50 * time.Second}).WaitForMessage(t.Context(), c3po.WaitInput{Timeout: test.asked})
			if took := time.Since(began); err != nil || took != time.Duration(test.took)*time.Second {
				t.Errorf("%s took %v: %v", name, took, err)
			}
			if cut := got.Outcome != nil && strings.Contains(got.Outcome.Suggestion, "call again"); cut != test.cut {
				t.Errorf("%s says that it was cut: %v, in %+v", name, cut, got.Outcome)
			}
			if test.cut && got.Outcome.Message != "No message received within 50 seconds" {
				t.Errorf("%s ends with %q", name, got.Outcome.Message)
			}
		})
	}
}
