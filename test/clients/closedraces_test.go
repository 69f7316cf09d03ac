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

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/host/paths"
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
	hangs *atomic.Bool
	hung  *atomic.Int32
	// answered is what the model has answered, or need not.
	answered *sync.Map
}

// attended is a closed session of the client whose host attends to it. Without a network
// OpenCode may take a minute to start, so tests wait for it longer than a person would.
func (c closedClient) attended(t *testing.T) *closedAgent {
	t.Helper()
	r, kept := c.closed(t)
	a := &closedAgent{testAgent: r, closedClient: c, kept: kept, hangs: &atomic.Bool{}, hung: &atomic.Int32{}, answered: &sync.Map{}}
	r.Model.Script = a.answering()
	a.allows(c.modes[0])
	r.attend()
	r.c.Reached("api", "it is closed", c3po.ReachStarts)
	return a
}

// allows lets mail resume it in a mode.
func (a *closedAgent) allows(mode string) {
	a.T.Helper()
	a.C3PO("attend", "allow", "api", "--starts", "1000", "--mode", mode)
}

// in is the same session in a part of the test, and a model that answers all mail of that.
func (a *closedAgent) in(t *testing.T) *closedAgent {
	for _, asked := range llm.ToAnswer.FindAllStringSubmatch(a.Model.Read(), -1) {
		a.answered.Store(asked[1], true)
	}
	part := *a
	part.testAgent = &testAgent{Agent: a.Agent.For(t), c: a.c.For(t)}
	part.Model.Script = part.answering()
	return &part
}

func (a *closedAgent) answering() llm.Script {
	reads := llm.Following(llm.On(resumedFor, llm.Call("get_messages", nil)), llm.On(llm.Unread.String(), llm.Call("get_messages", nil)), llm.Else(done))
	return func(q llm.Request) llm.Step {
		if strings.Contains(q.Fresh(), resumedFor) && a.hangs.CompareAndSwap(true, false) {
			a.hung.Add(1)
			return llm.Step{Hangs: true}
		}
		for _, asked := range llm.ToAnswer.FindAllStringSubmatch(q.All(), -1) {
			if _, before := a.answered.LoadOrStore(asked[1], true); !before {
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

// One closed session of each client goes through it all: to close one takes longer than most
// of what is tried with it.
func TestMailResumesAClosedSessionOnceAndThePersonGetsItBack(t *testing.T) {
	t.Parallel()
	for _, c := range allClosed {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := c.attended(t)
			part := func(name string, test func(*closedAgent)) {
				t.Run(name, func(t *testing.T) { test(whole.in(t)) })
			}
			part("it answers from what it knows", (*closedAgent).answersInEachMode)
			whole.allows(c.modes[0])
			if faultrig.Torture() {
				part("it asks its model soon", (*closedAgent).isSoon)
			}
			part("ten messages at once resume it once", (*closedAgent).resumesOnceForTen)
			part("killed, it answers once in the end", (*closedAgent).survivesKills)
			part("the person who opens it wins", (*closedAgent).yields)
			if c.asks {
				part("it is left alone while the person may have it", (*closedAgent).isLeftAlone)
			}
		})
	}
}

// isSoon measures from mail to the first request to the model, beside what the client takes
// for the same without mail and c3po attend.
func (a *closedAgent) isSoon() {
	var resumed, alone []time.Duration
	first := func(began time.Time, before int) time.Duration { return a.Model.Seen()[before].At.Sub(began) }
	for range 10 {
		before, sent := len(a.Model.Seen()), time.Now()
		a.c.Answered("web", a.ask("Which port has the printer?"), "9100", 180)
		resumed = append(resumed, first(sent, before))
		a.quiet()
	}
	for range 10 {
		before, began := len(a.Model.Seen()), time.Now()
		a.Must(attend.Clients()[a.name].Argv(paths.Session{ID: a.kept.Session}, a.modes[0], "Hello.")...)
		alone = append(alone, first(began, before))
	}
	// A script that had the agent's name hides for up to a minute that its host attends to it.
	clientrig.Eventually(a.T, 90*time.Second, "it is closed again", func() bool { return a.c.Agent("api").Reachability == c3po.ReachStarts })
	slices.Sort(resumed)
	slices.Sort(alone)
	a.T.Logf("%s alone: %v to %v, median %v; resumed by mail: %v to %v", a.name, alone[0], alone[9], alone[5], resumed[0], resumed[9])
	faultrig.Hold(a.T, "from mail to the first model request of a resumed "+a.name+", median", resumed[5], max(3*time.Second, alone[5]+time.Second))
}

func (a *closedAgent) resumesOnceForTen() {
	starts := a.listed().Starts
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
	if n := a.listed().Starts - starts; n != 1 {
		a.T.Errorf("it was resumed %d times", n)
	}
}

// survivesKills has the resumed client killed each time it asks its model.
func (a *closedAgent) survivesKills() {
	t, starts := a.T, a.listed().Starts
	rounds := faultrig.Size(1, 20)
	for range rounds {
		question := a.hang()
		pids := a.begun()
		if len(pids) != 1 {
			t.Fatalf("%d processes have the session", len(pids))
		}
		clientrig.Kill(t, pids[0])
		clientrig.Eventually(t, 180*time.Second, "it is answered", func() bool { return a.answersTo(question.ID) > 0 })
		a.quiet()
		a.once(question.ID)
	}
	if n := a.listed().Starts - starts; n != 2*rounds {
		t.Errorf("%d starts after %d kills", n, rounds)
	}
	a.c.Only("api", "web")
}

// hang asks it something, and returns when it is resumed and its model says nothing to that.
func (a *closedAgent) hang() c3po.Receipt {
	a.T.Helper()
	before := a.hung.Load()
	a.hangs.Store(true)
	question := a.ask("Which port has the printer?")
	clientrig.Eventually(a.T, 180*time.Second, "it asks its model", func() bool { return a.hung.Load() > before })
	return question
}

// resumeAnyway is what Copilot CLI offers when it has seen the other process.
const resumeAnyway = "Resume anyway"

// yields has the person open the session each time it is resumed.
func (a *closedAgent) yields() {
	t, starts := a.T, a.listed().Starts
	rounds := faultrig.Size(1, 20)
	for range rounds {
		question := a.hang()
		term := a.Reopen("", append(a.reopen, a.kept.Session)...)
		var pressed time.Time
		clientrig.Eventually(t, 90*time.Second, "the person has the session", func() bool {
			shown := term.Shown()
			if a.refuses != "" && strings.Contains(shown, a.refuses) {
				if time.Since(pressed) > 2*time.Second {
					term.Press("r") // it has looked before the other had ended
					pressed = time.Now()
				}
				return false // it shows what was said, and takes no word
			}
			return strings.Contains(shown, "ALL-DONE") || strings.Contains(shown, resumeAnyway)
		})
		clientrig.Eventually(t, 20*time.Second, "the resumed one has ended", func() bool { return len(a.begun()) == 0 })
		term.Rest()
		if strings.Contains(term.Shown(), resumeAnyway) {
			term.Press("Enter")
			term.Rest()
		}
		began := time.Now()
		term.Enter("Hello again.")
		a.c.Answered("web", question, "9100", 180)
		t.Logf("the person's %s has answered %v after its prompt", a.name, time.Since(began).Round(100*time.Millisecond))
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
	if n := a.listed().Starts - starts; n != rounds {
		t.Errorf("it was resumed %d times in %d rounds", n, rounds)
	}
}

// isLeftAlone has the person open the session, and say nothing yet: a client that shows only
// with the first prompt which session it has is not resumed.
func (a *closedAgent) isLeftAlone() {
	t := a.T
	term := a.Open(append(a.reopen, a.kept.Session)...)
	term.Rest() // it starts its servers twice
	a.c.Reached("api", "the person has opened it", c3po.ReachOffline)
	before, starts := len(a.Model.Seen()), a.listed().Starts
	question := a.ask("Which port has the printer?")
	if faultrig.Within(3*time.Second, func() bool { return len(a.Model.Seen()) > before || a.listed().Starts > starts }) {
		t.Error("mail has resumed it")
	}
	term.Enter("Hello again.")
	a.c.Answered("web", question, "9100", 60)
	if n := a.listed().Starts - starts; n != 0 {
		t.Errorf("it was resumed %d times", n)
	}
}
