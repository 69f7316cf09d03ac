package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// copilotWaits is a model that does what it is told of the background shell.
func copilotWaits(then llm.Script) llm.Script {
	return func(r llm.Request) llm.Step {
		if strings.Contains(r.Fresh(), "c3po wait --notice runs in a background shell") {
			return llm.Call("bash", map[string]any{"command": "c3po wait --notice", "description": "wait for mail", "mode": "async"})
		}
		return then(r)
	}
}

func TestCopilotAnswersAQuestionInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	toldInTheMiddle(t, "copilot", "Ask another coding agent, answer one")
}

func TestCopilotAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	answersAtTheEnd(t, "copilot", copilotWaits)
}

func TestCopilotAnswersMailThatComesWhileItIsIdleAndWaitsInTheBackground(t *testing.T) {
	t.Parallel()
	r := newTestAgent(t, "copilot", copilotWaits(answering))
	r.at().Rest()
	r.c.Reached("api", "it waits", c3po.ReachNow)
	r.wakes(5 * time.Second)
}

func TestUninstallingLeavesTheFilesOfCopilotAsTheyWere(t *testing.T) {
	t.Parallel()
	a := leavesAsTheyWere(t, "copilot", ".copilot/mcp-config.json", func(a *clientrig.Agent) {
		a.Must("copilot", "mcp", "add", "other", "--", "true")
	}, `"other"`)
	if _, err := os.Stat(filepath.Join(a.Home(), ".copilot", "hooks")); !os.IsNotExist(err) {
		t.Errorf("the folder of hooks is left: %v", err)
	}
}

func TestWithoutACoordinatorCopilotWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	worksAlone(t, "copilot")
}
