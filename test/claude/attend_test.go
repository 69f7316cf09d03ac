package claude_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A closedSession is one of Claude Code that was told a fact and closed, on a host that
// attends to it.
type closedSession struct {
	*agent
	binary string
	id     string
}

// resumedFor is in the prompt of every resumed session.
const resumedFor = "is resumed because there is mail"

var printerPort = regexp.MustCompile(`port of the printer is (\d+)`)

// remembering is a model that answers its mail from what was said in the conversation. First
// is asked before, and may say something else.
func remembering(first func(request) (step, bool)) brain {
	reads := following(on(resumedFor, call("get_messages", nil)), on(unread.String(), call("get_messages", nil)))
	var mu sync.Mutex
	answered := map[string]bool{}
	return func(r request) step {
		if s, ok := first(r); ok {
			return s
		}
		mu.Lock()
		defer mu.Unlock()
		for _, asked := range toAnswer.FindAllStringSubmatch(r.All(), -1) {
			if !answered[asked[1]] {
				answered[asked[1]] = true
				known := "I don't know"
				if fact := printerPort.FindStringSubmatch(r.All()); fact != nil {
					known = fact[1]
				}
				return call("reply", map[string]any{"message_id": asked[1], "response": known})
			}
		}
		return reads(r)
	}
}

func neverFirst(request) (step, bool) { return step{}, false }

// closed has a session that knows the printer's port and is closed, and whose host attends
// to it.
func (w *testCoordinator) closed(thinks brain, allow ...string) *closedSession {
	w.t.Helper()
	a := w.host("pi").agent("api", thinks)
	c := &closedSession{agent: a, binary: strings.TrimPrefix(a.extra[0], "C3PO_BINARY=")}
	a.plugin, a.extra = "", a.extra[1:]
	a.must(c.binary, "install", "claude")
	term := a.open()
	term.idle()
	w.awaitOnline("api")
	term.enter("The port of the printer is 9100.")
	term.rest()
	term.enter("/exit")
	eventually(w.t, 20*time.Second, "it is offline", func() bool { return w.status("api") == c3po.Offline })
	if reach := w.reach("api"); reach != c3po.ReachOffline {
		w.t.Fatalf("before anybody attends to it the agent is %s", reach)
	}
	a.must(c.binary, append([]string{"attend", "allow", "api"}, allow...)...)
	c.id = c.listed().Session
	c.attend()
	eventually(w.t, 10*time.Second, "mail starts it", func() bool { return w.reach("api") == c3po.ReachStarts })
	return c
}

// attend runs c3po attend until the test ends.
func (c *closedSession) attend() {
	c.t.Helper()
	argv := c.onHost(c.binary, "attend")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = c.home(), append(c.env(), "PATH="+filepath.Dir(claudeBinary(c.t))+":/usr/local/bin:/usr/bin:/bin")
	clientrig.RunAttend(c.t, cmd)
}

func (w *testCoordinator) reach(id c3po.AgentID) c3po.Reachability {
	agent, err := w.as("").GetAgentStatus(w.t.Context(), c3po.AgentInput{AgentID: string(id)})
	if err != nil {
		return c3po.Reachability(err.Error())
	}
	return agent.Reachability
}

// listed is the session as c3po attend list shows it.
func (c *closedSession) listed() clientrig.KeptSession {
	c.t.Helper()
	return clientrig.OnlySession(c.t, c.must(c.binary, "attend", "list", "--json"))
}

// transcripts are the conversations that Claude Code keeps.
func (c *closedSession) transcripts() []string {
	all, err := filepath.Glob(filepath.Join(c.home(), ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	for i, name := range all {
		all[i] = strings.TrimSuffix(filepath.Base(name), ".jsonl")
	}
	return all
}

// answer is the one that a message gets.
func (c *closedSession) answer(to c3po.MessageID) string {
	c.t.Helper()
	got, err := c.as("web").WaitForMessage(c.t.Context(), c3po.WaitInput{MessageID: to, Timeout: 60})
	if err != nil || got.Outcome != nil {
		c.t.Fatalf("no answer: %+v, %v", got.Outcome, err)
	}
	return got.Response
}

// trace is what is known of a message.
func (c *closedSession) trace(id c3po.MessageID) c3po.Trace {
	c.t.Helper()
	trace, err := c.as("web").Trace(c.t.Context(), c3po.MessageInput{MessageID: id})
	if err != nil {
		c.t.Fatal(err)
	}
	return trace
}

// quietAgain waits until nothing runs of the session, and mail starts it again.
func (c *closedSession) quietAgain() {
	c.t.Helper()
	eventually(c.t, 20*time.Second, "no process has the session", func() bool { return len(c.processes("--resume "+c.id)) == 0 })
	eventually(c.t, 20*time.Second, "mail starts it again", func() bool { return c.reach("api") == c3po.ReachStarts })
}

// endsInReach waits until nothing runs of the session. Mail must reach it all the while.
func (c *closedSession) endsInReach() {
	c.t.Helper()
	eventually(c.t, 20*time.Second, "mail starts it again", func() bool {
		reach := c.reach("api")
		if reach == c3po.ReachOffline {
			c.t.Error("it is offline while its client ends")
		}
		return len(c.processes("--resume "+c.id)) == 0 && reach == c3po.ReachStarts
	})
}

func TestMailResumesAClosedSessionThatAnswersFromWhatItKnows(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	c := w.closed(remembering(neverFirst))
	var waited []time.Duration
	for range faultrig.Size(3, 10) {
		before := len(c.model.Seen())
		sent := time.Now()
		question := w.send("web", "api", "Which port has the printer?")
		if question.Reachability != c3po.ReachStarts || question.Recipient != c3po.Offline {
			t.Errorf("the receipt says %s, %s", question.Recipient, question.Reachability)
		}
		if got := c.answer(question.ID); got != "9100" {
			t.Errorf("it answers %q", got)
		}
		waited = append(waited, c.model.Seen()[before].At.Sub(sent))
		eventually(t, 5*time.Second, "the trace says what was started", func() bool { return len(c.trace(question.ID).Started) == 1 })
		want := fmt.Sprintf("claude-code %s on pi, by c3po attend, permission mode manual", c.id)
		if got := c.trace(question.ID).Started[0].Session; got != want {
			t.Errorf("the trace says %q, want %q", got, want)
		}
		c.endsInReach()
	}
	slices.Sort(waited)
	faultrig.Hold(t, "from mail to the first model request of a resumed session", waited[len(waited)/2], 3*time.Second)
	if all := c.transcripts(); !slices.Equal(all, []string{c.id}) {
		t.Errorf("the conversations are %v, want only %s", all, c.id)
	}
	w.onlyHas("api", "web")
	// Mail that expects no answer waits for the person.
	before := len(c.model.Seen())
	w.send("web", "api", "The printer was moved", noReply)
	question := w.send("web", "api", "Which port has the printer?")
	c.answer(question.ID)
	if n := c.listed().Starts; n != faultrig.Size(3, 10)+1 {
		t.Errorf("%d starts", n)
	}
	if shown := c.model.Seen()[before].Fresh(); !strings.Contains(shown, resumedFor) {
		t.Errorf("it was told:\n%s", shown)
	}
}

func TestTenMessagesAtOnceResumeASessionOnce(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	c := w.closed(remembering(neverFirst))
	ids := make([]c3po.MessageID, 10)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() { ids[i] = w.send("web", "api", fmt.Sprintf("Which port has the printer? (%d)", i)).ID })
	}
	all.Wait()
	for _, id := range ids {
		if got := c.answer(id); got != "9100" {
			t.Errorf("%s is answered %q", id, got)
		}
	}
	c.quietAgain()
	if n := c.listed().Starts; n != 1 {
		t.Errorf("it was resumed %d times", n)
	}
}

func TestAResumedSessionThatIsKilledAnswersOnceInTheEnd(t *testing.T) {
	t.Parallel()
	var asked, killed atomic.Int32
	w := newTestCoordinator(t)
	c := w.closed(remembering(func(r request) (step, bool) {
		// The first of each round hangs until it is killed; the second goes on.
		return step{Hangs: true}, strings.Contains(r.Fresh(), resumedFor) && !strings.Contains(r.Fresh(), "reply expected") && asked.Add(1) == 2*killed.Load()+1
	}), "--starts", "100")
	rounds := faultrig.Size(2, 20)
	for n := range rounds {
		question := w.send("web", "api", "Which port has the printer?")
		eventually(t, 30*time.Second, "it asks its model", func() bool { return asked.Load() == int32(2*n+1) })
		pids := c.processes("--resume " + c.id)
		if len(pids) != 1 {
			t.Fatalf("%d processes have the session", len(pids))
		}
		killed.Store(int32(n + 1))
		kill(t, pids[0])
		eventually(t, 30*time.Second, "it is answered", func() bool { return len(c.trace(question.ID).Answered) > 0 })
		c.quietAgain()
		if trace := c.trace(question.ID); len(trace.Answered) != 1 || trace.State != c3po.StateAcked {
			t.Errorf("the message is %s, with %d answers", trace.State, len(trace.Answered))
		}
	}
	if n := c.listed().Starts; n != 2*rounds {
		t.Errorf("%d starts after %d kills", n, rounds)
	}
	w.onlyHas("api", "web")
}

func TestThePersonWhoOpensAResumedSessionWins(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	var resumed atomic.Int32
	c := w.closed(remembering(func(r request) (step, bool) {
		// The person's session has the prompt of the one that was ended before its own.
		mine := strings.Contains(r.Fresh(), resumedFor) && !strings.Contains(r.Fresh(), "<event>")
		if mine {
			resumed.Add(1)
		}
		return step{Hangs: true}, mine
	}), "--starts", "100")
	for n := range int32(faultrig.Size(2, 20)) {
		question := w.send("web", "api", "Which port has the printer?")
		eventually(t, 30*time.Second, "it is resumed", func() bool { return resumed.Load() > n })
		term := c.open("--resume", c.id)
		eventually(t, 20*time.Second, "the resumed one has ended", func() bool { return len(c.processes("--print")) == 0 })
		w.awaitOnline("api")
		if got := c.answer(question.ID); got != "9100" {
			t.Errorf("the person's session answers %q", got)
		}
		if trace := c.trace(question.ID); len(trace.Answered) != 1 {
			t.Errorf("%d answers", len(trace.Answered))
		}
		w.onlyHas("api", "web")
		term.rest()
		term.enter("/exit")
		c.quietAgain()
		if resumed.Load() != n+1 {
			t.Errorf("it was resumed %d times, want %d", resumed.Load(), n+1)
		}
	}
}

func TestWhenAllStartsOfAnHourAreUsedUpThePersonIsAsked(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	c := w.closed(remembering(neverFirst), "--starts", "1")
	c.answer(w.send("web", "api", "Which port has the printer?").ID)
	c.quietAgain()
	second := w.send("web", "api", "Which port has the printer?")
	asked := w.asked()
	if asked.FromAgent != "api" || asked.Text() != "May mail resume it further?" {
		t.Errorf("the person is asked %q by %s", asked.Text(), asked.FromAgent)
	}
	if n := c.listed().Starts; n != 1 {
		t.Errorf("%d starts", n)
	}
	if _, err := w.as("").HumanAnswer(t.Context(), c3po.AnswerInput{MessageID: asked.ID, Response: "Resume it further"}); err != nil {
		t.Fatal(err)
	}
	if got := c.answer(second.ID); got != "9100" {
		t.Errorf("it answers %q", got)
	}
}

var wantedFile = regexp.MustCompile(`Make the file (\w+)`)

// Nobody sits at a resumed session: a dialog is a question to the person, who decides it from
// elsewhere. The tool runs only if they allow it, and the model reads why if not.
func TestADialogOfAResumedSessionIsAQuestionToThePerson(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	owed := ""
	var tries atomic.Int32
	c := w.closed(func(r request) step {
		switch fresh := r.Fresh(); {
		case toAnswer.MatchString(fresh):
			tries.Add(1)
			owed = toAnswer.FindStringSubmatch(fresh)[1]
			return call("Bash", map[string]any{"command": "touch " + wantedFile.FindStringSubmatch(fresh)[1], "description": "Make a file"})
		case strings.Contains(fresh, resumedFor):
			return call("get_messages", nil)
		case owed != "":
			id, said := owed, "made"
			if owed = ""; strings.Contains(fresh, "denied this call") {
				said = fresh
			}
			return call("reply", map[string]any{"message_id": id, "response": said})
		}
		return say("done")
	})
	for i, round := range []struct {
		file, verdict, answer string
		allows                bool
	}{{"allowed", "", "made", true}, {"denied", "Use make instead.", "The user denied this call and says: Use make instead.", false}} {
		question := w.send("web", "api", "Make the file "+round.file)
		eventually(t, 60*time.Second, "it wants to make the file", func() bool { return int(tries.Load()) > i })
		asked := w.asked()
		if approval, ok := asked.Approval(); !ok || approval.Tool != "Bash" || approval.Folder != c.folder || approval.Session != c.id || !strings.Contains(asked.Message, "$ touch "+round.file) {
			t.Errorf("the person reads %+v", asked)
		}
		w.reached("it waits for the person", c3po.ReachDialog)
		if c.has(round.file) {
			t.Fatal("the tool ran before anybody allowed it")
		}
		verdict := []string{"answer", string(asked.ID), round.verdict}
		if round.allows {
			verdict = []string{"answer", string(asked.ID), "--choice", "1"}
		}
		c.must(faultrig.Binary(t), verdict...)
		if got := c.answer(question.ID); !strings.Contains(got, round.answer) {
			t.Errorf("it answers %q", got)
		}
		if c.has(round.file) != round.allows {
			t.Errorf("the file is there: %v", !round.allows)
		}
		c.quietAgain()
	}
	for _, r := range c.model.Seen() {
		for _, tool := range r.Tools {
			if strings.Contains(string(tool), "c3po_approve") {
				t.Fatal("the model is offered the tool that asks the person")
			}
		}
	}
}
