package session

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// reads is a turn that a question has started, and in which it is read.
func (f *failing) reads(id c3po.MessageID) {
	f.arrives(1, id)
	f.next(time.Second)
	f.hook(hook.UserPromptSubmit)
	f.says("busy")
	f.b.mu.Lock()
	f.b.conversation.hand(c3po.Message{ID: id, ExpectsReply: true})
	f.b.mu.Unlock()
}

// stall takes what is to be reported, as a report does.
func (f *failing) stall() (stalled, moves int) {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	s := &f.b.conversation.stall
	stalled, moves = len(s.stalled), len(s.moves)
	s.stalled, s.moves = nil, nil
	return stalled, moves
}

func TestAQuestionWithoutAStepIsStalledOnceUntilTheSessionMoves(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.reads("web::api::00000001")
		pass(DefaultStalledAfter - time.Second)
		if stalled, _ := f.stall(); stalled != 0 {
			t.Error("it is said to be stalled too soon")
		}
		pass(2 * time.Second)
		if stalled, moves := f.stall(); stalled != 1 || moves != 0 {
			t.Errorf("after 15 minutes without a step: %d stalled, %d moves; want 1 and 0", stalled, moves)
		}
		pass(time.Hour)
		if stalled, _ := f.stall(); stalled != 0 {
			t.Error("it is said again")
		}
		f.hook(hook.PostToolUse)
		pass(time.Second)
		if stalled, moves := f.stall(); stalled != 0 || moves != 1 {
			t.Errorf("after a step: %d stalled, %d moves; want 0 and 1", stalled, moves)
		}
	})
}

func TestASessionThatWaitsForSomethingIsNotStalled(t *testing.T) {
	t.Parallel()
	locked := func(change func(*failing)) func(*failing) {
		return func(f *failing) {
			f.b.mu.Lock()
			defer f.b.mu.Unlock()
			change(f)
		}
	}
	for name, waits := range map[string]func(f *failing){
		"for its user":       func(f *failing) { f.hook(hook.DialogOpens); f.says("waiting") },
		"in a call of ours":  locked(func(f *failing) { f.b.conversation.activity = f.b.conversation.activity.Calls() }),
		"for another agent":  locked(func(f *failing) { f.b.conversation.asked["api::db::00000001"] = true }),
		"for its next turn":  func(f *failing) { f.b.putOff(); f.says("idle") },
		"without a hook":     locked(func(f *failing) { f.b.ran = HookRun{} }),
		"with nothing to do": func(f *failing) { f.b.forgetOwed("web::api::00000001") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inFailing(t, func(f *failing) {
				f.reads("web::api::00000001")
				waits(f)
				pass(time.Hour)
				if stalled, _ := f.stall(); stalled != 0 {
					t.Error("it is said to be stalled")
				}
			})
		})
	}
}

func TestATurnThatOnlySaysItGoesOnIsStalled(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.reads("web::api::00000001")
		for range 16 {
			pass(time.Minute)
			f.hook(hook.StillBusy)
		}
		if stalled, _ := f.stall(); stalled != 1 {
			t.Errorf("a turn that makes no step for 16 minutes: %d stalled, want 1", stalled)
		}
	})
}
