package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// turn is one that ends well, in which the model uses no tool of ours.
func (f *failing) turn() {
	f.hook(hook.UserPromptSubmit)
	f.says("busy")
	pass(700 * time.Millisecond)
	f.b.mu.Lock()
	f.b.conversation.clearTurn()
	f.b.conversation.endTurn(nil)
	f.b.mu.Unlock()
	f.says("shell")
}

func TestATurnAfterANoticeIsAReactionWhateverTheModelDoesInIt(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		f.arrives(1, "web::api::00000001")
		f.next(time.Second)
		f.turn()
		for range 60 {
			if is := f.state(); is != c3po.SessionIdle {
				f.t.Fatalf("it has just reacted, and is said to be %s", is)
			}
			pass(time.Second)
		}
	})
}

func TestASessionDoesNotReactOnlyIfNoTurnHasBegunForHalfAMinute(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		for i := range int64(8) {
			f.arrives(i+1, c3po.MessageID(fmt.Sprintf("web::api::0000000%d", i)))
		}
		for sent := time.Now(); time.Since(sent) < 30*time.Second; pass(time.Second) {
			if is := f.state(); is != c3po.SessionIdle {
				f.t.Fatalf("%s after eight notices it is said to be %s", time.Since(sent), is)
			}
		}
		pass(time.Second)
		if is := f.state(); is != c3po.SessionUnknown {
			f.t.Errorf("31 s after notices that nothing has followed it is said to be %s", is)
		}
		f.turn()
		if is := f.state(); is != c3po.SessionIdle {
			f.t.Errorf("after a turn it is said to be %s", is)
		}
	})
}

// Claude Code drops lines that come too quickly one after the other.
func TestAllMailOfABurstIsToldAgainIfNoTurnBegins(t *testing.T) {
	t.Parallel()
	inFailing(t, func(f *failing) {
		for i := range int64(8) {
			f.arrives(i+1, c3po.MessageID(fmt.Sprintf("web::api::0000000%d", i)))
			<-f.lines
		}
		select {
		case line := <-f.lines:
			if !strings.Contains(line, "8 new messages") {
				f.t.Errorf("it is told again: %q", line)
			}
		case <-time.After(6 * time.Second):
			f.t.Error("it is not told again")
		}
	})
}
