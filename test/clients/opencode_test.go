package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// opencodeAtWork is a model that uses tools, first one of OpenCode's own, then one
// of ours, each until it is told of urgent mail; that gets mail when it is about to
// end; and that thinks until it is interrupted.
func opencodeAtWork(r *testAgent, urgently, atEnd, thinking chan<- c3po.Receipt) llm.Script {
	sent, steps := 0, 0
	return llm.Following(llm.Answers("port 8080"), llm.Else(func(q llm.Request) llm.Step {
		told := strings.Count(q.All(), "urgent message")
		switch {
		case strings.Contains(q.Fresh(), "come to an end"):
			atEnd <- r.ask("Which port?")
			return done(q)
		case strings.Contains(q.Fresh(), "think long"):
			thinking <- r.ask("Which port?")
			return llm.Step{Hangs: true}
		case !strings.Contains(q.All(), "work hard") || told == 2:
			return done(q)
		case steps > 40:
			return llm.Say("NO-NOTICE")
		case told == sent:
			sent++
			urgently <- r.ask("Which port?", clientrig.Urgent)
		}
		if steps++; told == 0 {
			return opencodeStep
		}
		return llm.Call("list_agents", nil)
	}))
}

var opencodeStep = llm.Call("bash", map[string]any{"command": "true", "description": "a step"})

func TestOpenCodeAnswersMail(t *testing.T) {
	t.Parallel()
	urgently, atEnd, thinking := make(chan c3po.Receipt, 2), make(chan c3po.Receipt, 1), make(chan c3po.Receipt, 1)
	r := newTestAgent(t, "opencode", nil)
	r.Model.Script = opencodeAtWork(r, urgently, atEnd, thinking)
	term := r.at()
	term.Rest()
	t.Run("that comes while it is idle, and leaves alone what its person types", func(t *testing.T) {
		term.Type("a half thought")
		began := time.Now()
		receipt := r.ask("Which port?")
		if receipt.Reachability != c3po.ReachNow {
			t.Errorf("the sender is told that it is read %s", receipt.Reachability)
		}
		r.answered(receipt, 60)
		faultrig.Hold(t, "an idle OpenCode has answered", time.Since(began), 5*time.Second)
		term.Rest()
		term.See("a half thought")
		term.Press("C-u")
		r.cost()
	})
	t.Run("that is urgent in the middle of a turn", func(t *testing.T) {
		term.Enter("work hard")
		for range 2 {
			receipt := <-urgently
			r.answered(receipt, 60)
			r.received(receipt)
		}
		if strings.Contains(r.Model.Read(), "NO-NOTICE") {
			t.Error("it was not told")
		}
		term.Rest()
	})
	t.Run("at the end of a turn", func(t *testing.T) {
		term.Enter("come to an end")
		r.answered(<-atEnd, 60)
		term.Rest()
	})
	t.Run("after an interrupted turn only when its person has had the word", func(t *testing.T) {
		term.Enter("think long")
		receipt := <-thinking
		// It takes two, one soon after the other.
		if !faultrig.Within(time.Minute, func() bool {
			term.Press("Escape")
			return faultrig.Within(300*time.Millisecond, func() bool { return strings.Contains(term.Shown(), "interrupted") })
		}) {
			t.Fatal("the turn is not interrupted")
		}
		asked := len(r.Model.Seen())
		if faultrig.Within(3*time.Second, func() bool { return len(r.Model.Seen()) > asked }) {
			t.Error("a turn was started though its person has just ended one")
		}
		term.Enter("go on")
		r.answered(receipt, 60)
	})
	r.greeted("Use when a line begins with")
}

func TestUninstallingLeavesTheFilesOfOpenCodeAsTheyWere(t *testing.T) {
	t.Parallel()
	a := leavesAsTheyWere(t, "opencode", ".config/opencode/opencode.jsonc", func(a *clientrig.Agent) {
		if out := install(a); !strings.Contains(out, "OpenCode has c3po already") {
			t.Errorf("twice is not once: %s", out)
		}
		a.Must("opencode", "mcp", "add", "other", "--", "true")
	}, `"other"`, "// mine")
	if _, err := os.Stat(filepath.Join(a.Home(), ".config", "opencode", "plugin")); !os.IsNotExist(err) {
		t.Errorf("the plugin is left: %v", err)
	}
}

// compile checks the plugin against the types of OpenCode, and writes it as
// JavaScript to a folder.
func compile(a *clientrig.Agent, plugin, folder string) {
	a.T.Helper()
	modules := a.Client.Modules(a.T)
	a.Write("check/tsconfig.json", fmt.Sprintf(`{
  "files": [%q],
  "compilerOptions": {
    "strict": true, "noEmitOnError": true, "rootDir": %q, "outDir": %q, "noUncheckedIndexedAccess": true, "noUnusedLocals": true,
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler",
    "typeRoots": [%q], "types": ["node"],
    "paths": {"@opencode-ai/plugin": [%q]}
  }
}`, plugin, filepath.Dir(plugin), folder, filepath.Join(modules, "@types"), filepath.Join(modules, "@opencode-ai", "plugin", "dist", "index.d.ts")))
	a.Must(filepath.Join(modules, ".bin", "tsc"), "-p", filepath.Join(a.Home(), "check"))
}

func TestWithoutACoordinatorOpenCodeWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	var last time.Time
	var gap time.Duration
	steps := 0
	a := alone(t, "opencode", func(q llm.Request) llm.Step {
		// The shortest time a step takes is what it takes when nothing else runs.
		if took := time.Since(last); steps > 0 && (gap == 0 || took < gap) {
			gap = took
		}
		last = time.Now()
		if steps++; steps%6 == 0 {
			steps = 0
			return done(q)
		}
		return opencodeStep
	})
	turn := func() time.Duration {
		gap = 0
		if out := a.Prompt("do some work"); !strings.Contains(out, "ALL-DONE") {
			t.Errorf("%s", out)
		}
		return gap
	}
	without := turn()
	install(a)
	with := turn()
	t.Logf("a step of a turn without c3po %v, with it and no coordinator %v", without, with)
	faultrig.Hold(t, "a step takes longer by", with-without, 300*time.Millisecond)
}
