package clients_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// A closedAgent is a closed session whose host attends to it, and whose model answers all
// mail from what was said in it.
type closedAgent struct {
	*testAgent
	closedClient
	kept clientrig.KeptSession
	// hangs has the model say nothing to the next session that mail resumes; hung counts those.
	hangs atomic.Bool
	hung  atomic.Int32
}

// attended is a closed session of the client whose host attends to it. Without a network
// OpenCode may take a minute to start, so tests wait for it longer than a person would.
func (c closedClient) attended(t *testing.T) *closedAgent {
	t.Helper()
	r, kept := c.closed(t)
	a := &closedAgent{testAgent: r, closedClient: c, kept: kept}
	r.Model.Script = a.answering()
	r.C3PO("attend", "allow", "api", "--starts", "100", "--mode", c.modes[0])
	r.attend()
	r.c.Reached("api", "it is closed", c3po.ReachStarts)
	return a
}

func (a *closedAgent) answering() llm.Script {
	var mu sync.Mutex
	answered := map[string]bool{}
	reads := llm.Following(llm.On(resumedFor, llm.Call("get_messages", nil)), llm.On(llm.Unread.String(), llm.Call("get_messages", nil)), llm.Else(done))
	return func(q llm.Request) llm.Step {
		if strings.Contains(q.Fresh(), resumedFor) && a.hangs.CompareAndSwap(true, false) {
			a.hung.Add(1)
			return llm.Step{Hangs: true}
		}
		mu.Lock()
		defer mu.Unlock()
		for _, asked := range llm.ToAnswer.FindAllStringSubmatch(q.All(), -1) {
			if !answered[asked[1]] {
				answered[asked[1]] = true
				known := "I don't know"
				if fact := printerPort.FindStringSubmatch(q.All()); fact != nil {
					known = fact[1]
				}
				return llm.Call("reply", map[string]any{"message_id": asked[1], "response": known})
			}
		}
		return reads(q)
	}
}

// begun are the processes that c3po attend has started for the session, without those that
// they have started themselves.
func (a *closedAgent) begun() []int {
	var all []int
	for _, pid := range a.Processes("") { // some change their command line
		parent, err := parentOf(pid)
		if err == nil && slices.Contains(a.Processes("c3po attend"), parent) {
			all = append(all, pid)
		}
	}
	return all
}

func parentOf(pid int) (parent int, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %1s %d", new(string), &parent)
	return parent, err
}

// answersTo is how many answers a message has.
func (a *closedAgent) answersTo(id c3po.MessageID) int {
	trace, err := a.c.As("web").Trace(a.T.Context(), c3po.MessageInput{MessageID: id})
	if err != nil {
		return 0
	}
	return len(trace.Answered)
}

// once wants a message to have been answered one time, from what the session knows.
func (a *closedAgent) once(id c3po.MessageID) {
	a.T.Helper()
	trace, err := a.c.As("web").Trace(a.T.Context(), c3po.MessageInput{MessageID: id})
	if err != nil || len(trace.Answered) != 1 || trace.State != c3po.StateAcked {
		a.T.Errorf("the message is %s, with %d answers, %v", trace.State, len(trace.Answered), err)
	}
}

// quiet waits until nothing runs of the session, and mail starts it again.
func (a *closedAgent) quiet() {
	a.T.Helper()
	clientrig.Eventually(a.T, 30*time.Second, "no process has the session", func() bool { return len(a.Processes(a.kept.Session))+len(a.begun()) == 0 })
	a.c.Reached("api", "it is closed again", c3po.ReachStarts)
}

// allClosed are the clients whose closed sessions mail can resume.
var allClosed = []closedClient{closedCodex, closedOpenCode, closedGemini, closedCopilot, closedKimi}

// eachClosed is a test with each of some clients.
func eachClosed(t *testing.T, clients []closedClient, test func(*testing.T, *closedAgent)) {
	t.Helper()
	t.Parallel()
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, c.attended(t))
		})
	}
}

func TestTenMessagesAtOnceResumeASessionOnce(t *testing.T) {
	eachClosed(t, allClosed, func(t *testing.T, a *closedAgent) {
		receipts := make([]c3po.Receipt, 10)
		var all sync.WaitGroup
		for i := range receipts {
			all.Go(func() { receipts[i] = a.ask(fmt.Sprintf("Which port has the printer? (%d)", i)) })
		}
		all.Wait()
		for _, receipt := range receipts {
			a.c.Answered("web", receipt, "9100", 180)
			a.once(receipt.ID)
		}
		a.quiet()
		if n := a.listed().Starts; n != 1 {
			t.Errorf("it was resumed %d times", n)
		}
	})
}

func TestAResumedSessionThatIsKilledAnswersOnceInTheEnd(t *testing.T) {
	eachClosed(t, allClosed, func(t *testing.T, a *closedAgent) {
		rounds := faultrig.Size(1, 20)
		for n := range rounds {
			a.hangs.Store(true)
			question := a.ask("Which port has the printer?")
			clientrig.Eventually(t, 180*time.Second, "it asks its model", func() bool { return a.hung.Load() == int32(n+1) })
			pids := a.begun()
			if len(pids) != 1 {
				t.Fatalf("%d processes have the session", len(pids))
			}
			clientrig.Kill(t, pids[0])
			clientrig.Eventually(t, 180*time.Second, "it is answered", func() bool { return a.answersTo(question.ID) > 0 })
			a.quiet()
			a.once(question.ID)
		}
		if n := a.listed().Starts; n != 2*rounds {
			t.Errorf("%d starts after %d kills", n, rounds)
		}
		a.c.Only("api", "web")
	})
}

// Codex lets only one process have a conversation: the person has to wait for the other.
func TestThePersonWhoOpensAResumedSessionWins(t *testing.T) {
	eachClosed(t, allClosed[1:], func(t *testing.T, a *closedAgent) {
		rounds := faultrig.Size(1, 20)
		for n := range rounds {
			a.hangs.Store(true)
			question := a.ask("Which port has the printer?")
			clientrig.Eventually(t, 180*time.Second, "it is resumed", func() bool { return a.hung.Load() == int32(n+1) })
			term := a.Reopen("ALL-DONE", append(a.reopen, a.kept.Session)...)
			clientrig.Eventually(t, 20*time.Second, "the resumed one has ended", func() bool { return len(a.begun()) == 0 })
			if strings.Contains(term.Shown(), "Resume anyway") { // Copilot CLI has seen the other
				term.Press("Enter")
				term.Rest()
			}
			term.Enter("Hello again.")
			a.c.Answered("web", question, "9100", 180)
			a.once(question.ID)
			a.c.Only("api", "web")
			term.Rest()
			if a.quit != "" {
				term.Enter(a.quit)
				a.c.Offline("api")
			}
			term.Close()
			a.quiet()
		}
		if n := a.listed().Starts; n != rounds {
			t.Errorf("it was resumed %d times in %d rounds", n, rounds)
		}
	})
}
