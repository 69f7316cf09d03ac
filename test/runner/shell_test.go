package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// answering is an agent that is a script: it writes down what it is about to
// answer, and answers it.
const answering = `
c3po inbox --json | jq -r '.[].id' | while read -r id; do
  echo "$id" >> handled
  c3po reply "$id" "done" > /dev/null || exit 1
done`

// scripted is agents.yaml with one agent that is a script.
func scripted(name, workspace, script, more string) string {
	return fmt.Sprintf("%s:\n  workspace: %s\n  client: shell\n  image: %s\n%s  prompt: |\n%s\n", name, workspace, plain, more, indent(script))
}

func TestTheExitCodeIsThatOfTheProgramInTheContainer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	for _, code := range []int{0, 1, 42, 143} {
		h.agents(scripted("coder", workspace, fmt.Sprintf("echo ran > ran-%d; exit %d", code, code), ""))
		got := h.c3po(workspace, "", "agent", "run", "coder")
		if got.code != code || len(lines(filepath.Join(workspace, fmt.Sprintf("ran-%d", code)))) != 1 {
			t.Errorf("exit code %d, want %d: %s", got.code, code, got.stderr)
		}
	}
	if left := h.containers(); len(left) != 0 {
		t.Errorf("containers are left: %v", left)
	}
}

func TestMailStartsTheContainerWhichAnswersAndEnds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, answering, "  triggers: [{type: c3po}]\n"))
	loop := h.start("agent", "coder")
	eventually(t, time.Minute, "the first run has ended", func() bool { return strings.Contains(loop.out.String(), "the run has ended") })
	asker := h.as("asker")
	began := time.Now()
	receipt, err := asker.SendMessage(t.Context(), c3po.SendInput{Target: "docker/coder", Message: "are you there?", WaitSeconds: 60})
	if err != nil || receipt.Reply == nil {
		t.Fatalf("%+v, %v\n%s", receipt, err, loop.out)
	}
	t.Logf("asked and answered by a container that was not there: %v", time.Since(began).Round(time.Millisecond))
	loop.signal(syscall.SIGTERM)
	if code := loop.ended(20 * time.Second); code != 0 {
		t.Errorf("the loop ended with %d", code)
	}
}

func TestOrphansOfARunnerThatWasKilledAreEndedAtTheNextStart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, "trap 'echo ended >> ends; exit 0' TERM; echo up >> starts; while :; do sleep 0.1; done", ""))
	first := h.start("agent", "coder")
	eventually(t, time.Minute, "the container runs", func() bool { return len(lines(filepath.Join(workspace, "starts"))) == 1 })
	orphan := h.containers()
	first.signal(syscall.SIGKILL)
	<-first.done
	if still := h.containers(); len(orphan) != 1 || fmt.Sprint(still) != fmt.Sprint(orphan) {
		t.Fatalf("before the kill %v runs, after it %v", orphan, still)
	}
	if got := h.c3po(workspace, "", "agent", "status"); !strings.Contains(got.stdout, "its runner was killed") {
		t.Errorf("status says: %s%s", got.stdout, got.stderr)
	}
	second := h.start("agent", "coder")
	eventually(t, time.Minute, "the next container runs", func() bool { return len(lines(filepath.Join(workspace, "starts"))) == 2 })
	if ends := lines(filepath.Join(workspace, "ends")); len(ends) != 1 {
		t.Errorf("the orphan was asked to end %d times before the next began", len(ends))
	}
	if now := h.containers(); len(now) != 1 || now[0] == orphan[0] {
		t.Errorf("%v run", now)
	}
	if got := h.c3po(workspace, "", "agent", "run", "coder"); got.code == 0 || !strings.Contains(got.stderr, "runs already") {
		t.Errorf("a second runner of the same agent: %d %s", got.code, got.stderr)
	}
	if got := h.c3po(workspace, "", "agent", "stop", "coder"); got.code != 0 {
		t.Errorf("stop: %d %s", got.code, got.stderr)
	}
	second.ended(20 * time.Second)
	if left := h.containers(); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

func TestTheLoopKeepsToWhatItsFileSays(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, `echo "$C3PO_AGENT_ID" >> runs`, `  triggers:
    - {type: script, command: test -e $C3PO_WORKSPACE/go && rm $C3PO_WORKSPACE/go}
    - {type: c3po}
  post_run: [exit 3, pwd >> $C3PO_WORKSPACE/afterwards]
`))
	runs, afterwards := filepath.Join(workspace, "runs"), filepath.Join(workspace, "afterwards")
	if got := h.c3po(workspace, "", "agent", "run", "coder", "--once"); got.code != 0 || len(lines(runs)) != 1 || len(lines(afterwards)) != 1 {
		t.Errorf("--once: %d, %v, %v: %s", got.code, lines(runs), lines(afterwards), got.stderr)
	}
	h.alsoAgents("broken: /no/such/folder\n")
	loop := h.start("agent", "up")
	eventually(t, time.Minute, "the first run and what comes after it", func() bool { return len(lines(runs)) == 2 && len(lines(afterwards)) == 2 })
	if id := lines(runs)[1]; id != "docker/coder" {
		t.Errorf("it acts as %s", id)
	}
	if at := lines(afterwards)[0]; strings.HasPrefix(at, workspace) {
		t.Errorf("post_run works in %s, which the container writes", at)
	}
	eventually(t, time.Minute, "it waits at the coordinator", func() bool {
		agent, err := h.as("asker").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "docker/coder"})
		return err == nil && agent.Reachability == c3po.ReachNow
	})
	if got := h.c3po(workspace, "", "agent", "status"); !strings.Contains(got.stdout, "waiting") {
		t.Errorf("status says: %s%s", got.stdout, got.stderr)
	}
	if err := writeFile(filepath.Join(workspace, "go")); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the script starts another", func() bool { return len(lines(runs)) == 3 && len(lines(afterwards)) == 3 })
	if said := h.c3po(workspace, "", "agent", "logs", "coder"); said.code != 0 {
		t.Errorf("logs: %+v", said)
	}
	// One of them is ended, and the runner of both goes on.
	if got := h.c3po(workspace, "", "agent", "stop", "coder"); got.code != 0 {
		t.Errorf("stop: %d %s", got.code, got.stderr)
	}
	if got := h.c3po(workspace, "", "agent", "status"); !strings.Contains(got.stdout, "ended") {
		t.Errorf("status says: %s%s", got.stdout, got.stderr)
	}
	select {
	case <-loop.done:
		t.Error("the runner of all agents has ended with one of them")
	default:
	}
	loop.signal(syscall.SIGTERM)
	if code := loop.ended(20 * time.Second); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if !strings.Contains(loop.out.String(), "the workspace /no/such/folder of broken is not a folder") {
		t.Error("nothing is said of the agent that cannot run")
	}
	agent, err := h.as("asker").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "docker/coder"})
	if err != nil || agent.Status == c3po.Online {
		t.Errorf("after its end the agent is %v, %v", agent.Status, err)
	}
}

func TestARunThatDealsWithNothingIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("lazy", workspace, "echo run >> runs", "  triggers: [{type: c3po}]\n"))
	loop := h.start("agent", "lazy")
	eventually(t, time.Minute, "the first run", func() bool { return len(lines(filepath.Join(workspace, "runs"))) == 1 })
	if _, err := h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "docker/lazy", Message: "hello?"}); err != nil {
		t.Fatal(err)
	}
	said := ""
	eventually(t, time.Minute, "it rests", func() bool {
		said = loop.out.String()
		return strings.Count(said, "left all mail as it was") >= 3
	})
	// All runs but the first, which mail did not start, are followed by a rest.
	if runs, rests := strings.Count(said, "the run has ended"), strings.Count(said, "left all mail as it was"); runs > rests+2 {
		t.Errorf("%d runs for %d rests", runs, rests)
	}
	if !strings.Contains(said, "for=4s") {
		t.Error("the rests do not grow")
	}
}

func TestAnAgentHasTheHostOfItsRunnersTokenInItsId(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	id := c3po.AgentIDFromFolder(host)
	made, err := h.admin().CreateToken(t.Context(), c3po.TokenInput{Role: c3po.RoleRunner, Agents: string(id) + "/*"})
	if err != nil {
		t.Fatal(err)
	}
	h.extra = append(h.extra, "C3PO_TOKEN="+made.Secret)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, "c3po whoami --json > whoami", ""))
	if got := h.c3po(workspace, "", "agent", "coder"); got.code != 0 {
		t.Fatalf("%d %s", got.code, got.stderr)
	}
	said, err := os.ReadFile(filepath.Join(workspace, "whoami"))
	if err != nil || !strings.Contains(string(said), fmt.Sprintf("%q", string(id)+"/coder")) {
		t.Errorf("it is %s, %v", said, err)
	}
	h.agents(scripted("coder", workspace, "true", "  host: elsewhere\n"))
	if got := h.c3po(workspace, "", "agent", "coder"); got.code != 1 || !strings.Contains(got.stderr, "c3po:") {
		t.Errorf("a host that the token is not for: %d %s", got.code, got.stderr)
	}
}

func TestAnAgentWithMemoryIsShownItsConversationAndItsNotes(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, "cat /memory/thread.md >> seen; cat /memory/notes.md >> notes\necho I-WAS-HERE >> /memory/notes.md\n"+
		strings.TrimSpace(answering), "  memory: thread\n  triggers: [{type: c3po}]\n"))
	loop := h.start("agent", "coder")
	eventually(t, time.Minute, "the first run has ended", func() bool { return strings.Contains(loop.out.String(), "the run has ended") })
	receipt, err := h.as("asker").SendMessage(t.Context(), c3po.SendInput{Target: "docker/coder", Message: "WHAT-I-ASK", WaitSeconds: 60})
	if err != nil || receipt.Reply == nil {
		t.Fatalf("%+v, %v", receipt, err)
	}
	seen, _ := os.ReadFile(filepath.Join(workspace, "seen"))
	if !strings.Contains(string(seen), "WHAT-I-ASK") {
		t.Errorf("it was shown %s", seen)
	}
	if notes := lines(filepath.Join(workspace, "notes")); len(notes) != 1 || notes[0] != "I-WAS-HERE" {
		t.Errorf("its notes were %v", notes)
	}
}
