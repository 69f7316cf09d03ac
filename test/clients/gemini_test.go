package clients_test

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
)

func TestGeminiAnswersAQuestionInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	toldInTheMiddle(t, "gemini", "c3po/SKILL.md")
}

func TestGeminiAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	answersAtTheEnd(t, "gemini", atOnce)
}

func TestGeminiThatStaysReachableAnswersMailThatComesWhileItIsIdle(t *testing.T) {
	t.Parallel()
	r := newTestAgent(t, "gemini", answering, "--stay-reachable")
	r.at().See("Executing Hook") // its turn is over, and our hook waits for mail
	r.c.Reached("api", "it waits", c3po.ReachNow)
	r.wakes(5 * time.Second)
}

func TestUninstallingLeavesTheFilesOfGeminiAsTheyWere(t *testing.T) {
	t.Parallel()
	leavesAsTheyWere(t, "gemini", ".gemini/settings.json", func(a *clientrig.Agent) {
		a.Must("gemini", "mcp", "add", "-s", "user", "other", "true")
	}, `"other"`, "// mine")
}

func TestWithoutACoordinatorGeminiWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	worksAlone(t, "gemini")
}
