package clients_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// outputFile is how Kimi says what a command in the background has printed.
var outputFile = regexp.MustCompile(`<output-file path="([^"]+)"`)

// kimiWaits is a model that does what it is told of the background shell: at once,
// or when it has nothing else to do.
func kimiWaits(then llm.Script) llm.Script {
	again := false
	wait := llm.Call("Bash", map[string]any{
		"command": "c3po wait --notice", "description": "wait for mail", "run_in_background": true, "disable_timeout": true,
	})
	return func(r llm.Request) llm.Step {
		fresh := r.Fresh()
		if match := outputFile.FindStringSubmatch(fresh); match != nil {
			return llm.Call("Read", map[string]any{"path": match[1]})
		}
		again = again || strings.Contains(fresh, "Then run c3po wait --notice again")
		if strings.Contains(fresh, "c3po wait --notice runs in a background shell") {
			return wait
		}
		next := then(r)
		if again && next.Tool == "" {
			again = false
			return wait
		}
		return next
	}
}

func TestKimiAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	answersAtTheEnd(t, "kimi", kimiWaits).greeted("Ask another coding agent, answer one")
}

func TestKimiThatWaitsInTheBackgroundAnswersMailInTheMiddleOfATurnAndWhileItIsIdle(t *testing.T) {
	t.Parallel()
	receipts := make(chan c3po.Receipt, 1)
	r := newTestAgent(t, "kimi", nil)
	asked, steps := false, 0
	r.Model.Script = kimiWaits(llm.Following(llm.Answers("port 8080"), llm.Else(func(q llm.Request) llm.Step {
		told := r.Model.Read()
		if steps++; steps > 60 {
			t.Error("it was not told in the middle of the turn")
			return llm.Say("NO-NOTICE")
		}
		if !strings.Contains(told, "do more work") || strings.Contains(told, "urgent message") {
			return done(q)
		}
		if !asked && strings.Contains(told, "task_id: bash-") {
			asked = true
			receipts <- r.ask("Which port?", clientrig.Urgent)
		}
		return llm.Call("list_agents", map[string]any{"limit": steps})
	})))
	term := r.at()
	term.Rest()
	term.Enter("do more work")
	select {
	case receipt := <-receipts:
		r.answered(receipt, 30)
		r.received(receipt)
	case <-time.After(40 * time.Second):
		t.Fatal("no shell was started")
	}
	term.Rest()
	r.c.Reached("api", "it waits", c3po.ReachNow)
	r.wakes(5 * time.Second)
	r.cost()
}

func TestUninstallingLeavesTheFilesOfKimiAsTheyWere(t *testing.T) {
	t.Parallel()
	const config, servers = ".kimi-code/config.toml", ".kimi-code/mcp.json"
	var installed string
	a := leavesAsTheyWere(t, "kimi", config, func(a *clientrig.Agent) {
		a.Must("kimi", "doctor", "config")
		a.Write(config, "# mine, and more\n"+a.Text(config))
		installed = a.Text(servers)
	})
	if !strings.Contains(installed, "c3po") {
		t.Errorf("it was not installed: %s", installed)
	}
	fresh := a.Client.Files(a)
	if diff := cmp.Diff(fresh[servers], a.Text(servers)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("# mine, and more\n"+fresh[config], a.Text(config)); diff != "" {
		t.Error(diff)
	}
	a.Must("kimi", "doctor", "config")
}

func TestWithoutACoordinatorKimiWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	worksAlone(t, "kimi")
}
