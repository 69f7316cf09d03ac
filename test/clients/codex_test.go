package clients_test

import (
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

func TestCodexAnswersAQuestionInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	toldInTheMiddle(t, "codex", "c3po/SKILL.md")
}

func TestCodexAnswersMailAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	if r := answersAtTheEnd(t, "codex", atOnce); !strings.Contains(r.Model.Read(), "<hook_prompt") {
		t.Error("the notice did not come at the end of the turn")
	}
}

func TestCodexAnswersMailThatComesWhileItIsIdle(t *testing.T) {
	t.Parallel()
	r := newTestAgent(t, "codex", answering)
	r.at().Rest()
	r.wakes(12 * time.Second)
	if strings.Contains(r.Model.Read(), "<hook_prompt") {
		t.Error("it was not idle: a hook has told it")
	}
}

func TestCodexTrustsTheHooksThatWereInstalled(t *testing.T) {
	t.Parallel()
	r := newTestAgent(t, "codex", done)
	// Installing again tells what mail takes which way.
	if said := install(r.Agent); !strings.Contains(said, "codex hook Stop: ") || strings.Contains(said, "FAILED") {
		t.Errorf("%s", said)
	}
	out := r.Prompt("do some work")
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop"} {
		if !strings.Contains(out, "hook: "+event+" Completed") {
			t.Errorf("%s did not run:\n%s", event, out)
		}
	}
}

func TestUninstallingLeavesTheFilesOfCodexAsTheyWere(t *testing.T) {
	t.Parallel()
	a := leavesAsTheyWere(t, "codex", ".codex/config.toml", func(a *clientrig.Agent) {
		a.Must("codex", "mcp", "add", "other", "--", "true")
	}, "[mcp_servers.other]", "# my settings")
	// It starts with what is left.
	if out := a.Must("codex", "mcp", "list"); !strings.Contains(out, "other") || strings.Contains(out, "c3po") {
		t.Errorf("%s", out)
	}
}

func TestWithoutACoordinatorCodexWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	a := alone(t, "codex", done)
	exec := func() time.Duration {
		var best time.Duration
		for range 3 {
			began := time.Now()
			out := a.Prompt("do some work")
			if took := time.Since(began); best == 0 || took < best {
				best = took
			}
			if !strings.Contains(out, "ALL-DONE") || strings.Contains(out, "Failed") {
				t.Errorf("%s", out)
			}
		}
		return best
	}
	without := exec()
	install(a)
	with := exec()
	t.Logf("without c3po %v, with it and no coordinator %v", without, with)
	faultrig.Hold(t, "a turn takes longer by", with-without, 300*time.Millisecond)
}

// A model of Codex that waits in its turn while it is paused reads its person alone.
func TestAPausedCodexReadsItsPersonAloneUntilItIsResumed(t *testing.T) {
	t.Parallel()
	r := newTestAgent(t, "codex", llm.Following(
		llm.On("wait for mail", llm.Call("wait_for_message", map[string]any{"timeout": 2})),
		llm.Else(done),
	))
	works := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.c.As("api").Ping(t.Context(), c3po.None{})
	works(err)
	_, err = r.c.As("").Pause(t.Context(), c3po.PauseInput{AgentID: "api", Reason: "lunch"})
	works(err)
	r.ask("TEXT-OF-WEB")
	r.Prompt("wait for mail")
	if read := r.Model.Read(); !strings.Contains(read, "paused") || strings.Contains(read, "TEXT-OF-WEB") {
		t.Errorf("while it is paused its model reads:\n%s", read)
	}
	_, err = r.c.As(c3po.Human).SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "TEXT-OF-THE-PERSON"})
	works(err)
	r.Prompt("wait for mail")
	if read := r.Model.Read(); !strings.Contains(read, "TEXT-OF-THE-PERSON") || strings.Contains(read, "TEXT-OF-WEB") {
		t.Errorf("its person has written, and its model reads:\n%s", read)
	}
	_, err = r.c.As("").Resume(t.Context(), c3po.PauseInput{AgentID: "api"})
	works(err)
	r.Prompt("wait for mail")
	if !strings.Contains(r.Model.Read(), "TEXT-OF-WEB") {
		t.Errorf("once it is resumed its model reads:\n%s", r.Model.Read())
	}
}
