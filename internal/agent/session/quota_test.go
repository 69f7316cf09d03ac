package session

import (
	"strconv"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// refused is the turn that a line has started, whose model was refused for its quota.
func (f *failing) refused(said string) {
	f.hook(hook.UserPromptSubmit)
	f.says("busy")
	pass(700 * time.Millisecond)
	f.b.answerHook(f.t.Context(), hook.Event{Name: hook.StopFailure, SessionID: "s1", Error: "rate_limit", Said: said})
	pass(20 * time.Millisecond)
	f.says("shell")
}

// reports is what the coordinator is to be told.
func (f *failing) reports() quota {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	return f.b.conversation.quota
}

func TestNothingStartsATurnBeforeTheQuotaIsBackAndThenTheMailDoes(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(f *failing){
		"nothing happens":     func(*failing) {},
		"more mail comes":     func(f *failing) { f.arrives(2, "web::api::00000002") },
		"it connects anew":    (*failing).reconnects,
		"its user tries, too": func(f *failing) { f.refused("no time named") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inFailing(t, func(f *failing) {
				f.arrives(1, "web::api::00000001")
				f.next(time.Second)
				until := time.Now().Add(30 * time.Second).Truncate(time.Second)
				f.refused("usage limit until " + until.Format(time.RFC3339))
				pass(5 * time.Second)
				between(f)
				if q := f.reports(); !q.until.Equal(until) || !q.exact {
					t.Errorf("it is said to be out of quota until %s (exact: %v), want %s", q.until, q.exact, until)
				}
				f.next(time.Minute)
				if early := time.Until(until); early > 0 || early < -2*time.Second {
					t.Errorf("a turn is started %s before the quota is back, want 0 to 2 s after", early)
				}
			})
		})
	}
}

func TestAQuotaWhoseEndIsNotKnownIsTriedAgainAfterGrowingPauses(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.arrives(1, "web::api::00000001")
		f.next(time.Second)
		for _, pause := range failedPauses[:4] {
			f.refused("Please try again later.")
			if q := f.reports(); q.exact || q.evidence != "Please try again later." {
				t.Errorf("the report is %+v", q)
			}
			if took := f.next(time.Hour); took < pause-time.Second || took > pause+2*time.Second {
				t.Errorf("tried again after %s, want %s", took, pause)
			}
		}
		f.hook(hook.UserPromptSubmit)
		f.hook(hook.PostToolUse) // the model has used a tool
		if q := f.reports(); !q.until.IsZero() || !q.report {
			t.Errorf("the model answers, and the report is %+v", q)
		}
	})
}

func TestWhatWasReadBeforeTheQuotaRanOutIsToldAgainAndNotLeft(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.arrives(1, "web::api::00000001")
		f.next(time.Second)
		f.hook(hook.UserPromptSubmit)
		f.b.mu.Lock()
		f.b.conversation.hand(c3po.Message{ID: "web::api::00000001", ExpectsReply: true})
		f.b.mu.Unlock()
		f.refused("Please retry in 30s")
		pass(20 * time.Second)
		f.b.mu.Lock()
		silent := len(f.b.conversation.silent)
		f.b.mu.Unlock()
		if silent != 0 {
			t.Errorf("its asker hears that it has left the question")
		}
		if took := f.next(time.Minute); took > 12*time.Second {
			t.Errorf("told again after %s more", took)
		}
	})
}

// asksAgain is the client's word that its model was refused and that it asks again by itself.
func (f *failing) asksAgain(said string, after time.Duration) {
	f.b.answerHook(f.t.Context(), hook.Event{
		Name: hook.Refused, SessionID: "s1", Said: said, RetryAt: hook.Word(strconv.FormatInt(time.Now().Add(after).UnixMilli(), 10)),
	})
}

func TestASessionWhoseClientWaitsOutARefusalIsOutOfQuotaMeanwhile(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.reads("web::api::00000001")
		f.asksAgain("Too Many Requests", 2*time.Second)
		if q := f.reports(); !q.until.IsZero() {
			t.Errorf("a short pause is reported: %+v", q)
		}
		f.asksAgain("Service Unavailable", 30*time.Second)
		if q := f.reports(); !q.until.IsZero() {
			t.Errorf("another failure is reported: %+v", q)
		}
		f.asksAgain("Too Many Requests", 30*time.Second)
		until := time.Now().Add(30 * time.Second)
		if q := f.reports(); !q.until.Equal(until) || q.exact || q.evidence != "Too Many Requests" || !q.report {
			t.Errorf("the report is %+v, want until %s", q, until)
		}
		pass(30 * time.Second)
		f.b.answerHook(f.t.Context(), hook.Event{Name: hook.Refused, SessionID: "s1", Said: "Too Many Requests"}) // and no time
		if q := f.reports(); !q.until.Equal(time.Now().Add(unnamedRefusal)) {
			t.Errorf("after a refusal without a time the report is %+v", q)
		}
		pass(30 * time.Second)
		f.asksAgain("Too Many Requests", time.Minute)
		if q := f.reports(); !q.until.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("after the next try the report is %+v", q)
		}
		f.hook(hook.PostToolUse) // the model has used a tool
		if q := f.reports(); !q.until.IsZero() || !q.report {
			t.Errorf("the model answers, and the report is %+v", q)
		}
	})
}
