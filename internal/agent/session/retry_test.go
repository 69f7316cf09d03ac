package session

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/resident"
	"github.com/c3po-dev/c3po/internal/client"
)

// A failing is a session in a bubble of time, whose model cannot be asked.
type failing struct {
	t     *testing.T
	b     *Server
	lines chan string

	mu   sync.Mutex
	seen Sight
}

func (f *failing) sees() Sight {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

func (f *failing) says(word string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = Sight{Says: word, Since: time.Now()}
}

func (f *failing) hook(name string) {
	f.b.answerHook(f.t.Context(), hook.Event{Name: name, SessionID: "s1"})
}

func (f *failing) arrives(seq int64, id c3po.MessageID) {
	f.b.mu.Lock()
	f.b.conversation.add(resident.View{Seq: seq, Mail: []hook.Letter{{ID: id, From: "web", Seq: seq, ExpectsReply: true}}})
	f.b.mu.Unlock()
	f.b.wake()
}

func (f *failing) state() c3po.SessionState { return f.b.about().State }

// turnFails is the turn that a line has started, as the real client shows it: its own
// word comes a moment after its hook.
func (f *failing) turnFails() {
	f.hook(hook.UserPromptSubmit)
	f.says("busy")
	pass(700 * time.Millisecond)
	f.hook(hook.StopFailure)
	pass(20 * time.Millisecond)
	f.says("shell")
}

// reconnects is what settle does with mail that is known.
func (f *failing) reconnects() {
	f.b.mu.Lock()
	f.b.conversation.rearm(f.b.conversation.ids())
	f.b.mu.Unlock()
	f.b.wake()
}

// next is how long it takes until a line is sent; it fails if none is in time.
func (f *failing) next(most time.Duration) time.Duration {
	f.t.Helper()
	began := time.Now()
	select {
	case <-f.lines:
	case <-time.After(most):
		f.t.Fatalf("nothing is sent for %s: the mail is stranded", most)
	}
	return time.Since(began)
}

// inFailing runs a test with an idle session that listens.
func inFailing(t *testing.T, test func(*failing)) {
	t.Helper()
	inFailingOf(t, hook.ClaudeCode, test)
}

// inFailingOf is inFailing of another client.
func inFailingOf(t *testing.T, by hook.Dialect, test func(*failing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &failing{t: t, lines: make(chan string, 8)}
		f.b = New(Config{Client: client.New(client.Config{URL: "http://127.0.0.1:9", AgentID: "api"}), Asked: "api", Sees: f.sees, Dialect: by})
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go f.b.observe(ctx)
		f.b.listen(f.lines, false)
		f.hook(hook.UserPromptSubmit)
		f.b.putOff() // its turn ends
		f.says("shell")
		pass(time.Minute)
		test(f)
	})
}

func TestMailWhoseTurnFailsIsToldAgainAfterGrowingPausesWhateverComesBetween(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*failing){
		"nothing":                func(*failing) {},
		"the agent reconnects":   func(f *failing) { f.reconnects() },
		"a notification":         func(f *failing) { f.hook(hook.Notification) },
		"the session is resumed": func(f *failing) { f.hook(hook.SessionStart) },
		"it listens anew": func(f *failing) {
			f.b.unlisten(f.lines)
			f.b.listen(f.lines, false)
		},
		"a second word that it failed": func(f *failing) { f.hook(hook.StopFailure) },
		"a menu that was closed": func(f *failing) {
			f.says("waiting")
			pass(time.Second)
			f.says("shell")
		},
		"a call that shows what is there": func(f *failing) { f.b.wake(); f.b.slept() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inFailing(t, func(f *failing) {
				t := f.t
				f.arrives(1, "web::api::00000001")
				f.next(time.Second)
				for i, pause := range []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
					f.turnFails()
					failed := time.Now()
					pass(600 * time.Millisecond)
					between(f)
					f.next(time.Hour)
					if took := time.Since(failed); took < pause-time.Second || took > pause+time.Second {
						t.Fatalf("after failure %d it is told again after %s, want %s", i+1, took, pause)
					}
				}
			})
		})
	}
}

func TestASessionWhoseTurnFailedIsSaidToBeIdleAndWhenItIsToldAgain(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		t := f.t
		f.arrives(1, "web::api::00000001")
		f.next(time.Second)
		for _, pause := range []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute} {
			f.turnFails()
			failed := time.Now()
			for time.Since(failed) < pause-time.Second {
				about := f.b.about()
				if about.State != c3po.SessionFailed || about.Busy || about.ToldAgain == nil {
					t.Fatalf("%s after its turn failed it is %+v", time.Since(failed), about)
				}
				if in := about.ToldAgain.Sub(failed); in < pause-time.Second || in > pause {
					t.Errorf("it is told again %s after the failure, want %s", in, pause)
				}
				pass(pause / 7)
			}
			f.next(2 * time.Second)
			if about := f.b.about(); about.ToldAgain != nil || about.State != c3po.SessionIdle {
				t.Errorf("told again, it is %+v", about)
			}
		}
	})
}

// A retry that nobody needs any more, or a monitor that comes or goes, begins no other
// rest.
func TestASessionIsIdleSinceItsTurnEndedWhateverCanWakeIt(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]struct {
		do   func(*failing)
		want c3po.SessionState
	}{
		"its mail is acked elsewhere before it is told again": {func(f *failing) {
			f.b.mu.Lock()
			f.b.conversation.drop([]c3po.MessageID{"web::api::00000001"})
			f.b.mu.Unlock()
			pass(time.Minute)
		}, c3po.SessionIdle},
		"nothing listens any more":        {func(f *failing) { f.b.unlisten(f.lines) }, c3po.SessionUnarmed},
		"something listens after a while": {func(f *failing) { f.b.unlisten(f.lines); pass(time.Second); f.b.listen(f.lines, false) }, c3po.SessionFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inFailing(t, func(f *failing) {
				f.arrives(1, "web::api::00000001")
				f.next(time.Second)
				f.turnFails()
				ended := time.Now()
				pass(time.Second)
				then.do(f)
				pass(time.Second)
				about := f.b.about()
				if about.State != then.want || about.StateSince == nil || about.StateSince.Sub(ended).Abs() > time.Second {
					f.t.Errorf("it is %s since %v, want %s since %s", about.State, about.StateSince, then.want, ended)
				}
			})
		})
	}
}

// A person's own turn that ends well shows that the model can be asked.
func TestMailWhoseTurnFailedIsToldAsSoonAsAnotherTurnEndsWell(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.arrives(1, "web::api::00000001")
		for range 4 {
			f.next(2 * time.Minute)
			f.turnFails()
		}
		f.hook(hook.UserPromptSubmit)
		f.says("busy")
		pass(time.Second)
		f.b.mu.Lock()
		f.b.conversation.clearTurn()
		f.b.conversation.endTurn(nil)
		f.b.mu.Unlock()
		f.says("shell")
		if took := f.next(5 * time.Minute); took > 2*time.Second {
			f.t.Errorf("it is told %s after a turn that ended well", took)
		}
	})
}

// Mail that comes while a retry waits is told with it: each line is a turn, which
// would fail too.
func TestMailThatComesWhileARetryWaitsIsToldWithIt(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.arrives(1, "web::api::00000001")
		f.next(time.Second)
		f.turnFails()
		f.arrives(2, "web::api::00000002")
		if took := f.next(time.Minute); took < 4*time.Second || took > 6*time.Second {
			f.t.Errorf("it is told after %s, want 5 s", took)
		}
		f.turnFails()
		if took := f.next(time.Minute); took < 14*time.Second || took > 16*time.Second {
			f.t.Errorf("it is told again after %s, want 15 s", took)
		}
	})
}

// pass lets time go by in the bubble.
func pass(d time.Duration) { <-time.After(d) }
