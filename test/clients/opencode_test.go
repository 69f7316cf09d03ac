package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// opencodeConfig is what a person may have in the file, with our model in it.
func opencodeConfig(r *rig) string {
	return fmt.Sprintf(`{
  "$schema": "https://opencode.ai/config.json",
  // mine
  "model": "test/of-the-test", "small_model": "test/of-the-test",
  "autoupdate": false, "share": "disabled",
  "provider": {
    "test": {
      "npm": "@ai-sdk/openai-compatible", "name": "test",
      "options": {"baseURL": "%s/v1", "apiKey": "none"},
      "models": {"of-the-test": {"name": "test", "tool_call": true, "limit": {"context": 100000, "output": 4096}}},
    },
  },
}
`, r.model.url)
}

func opencodeKind() kind {
	files := opencodeModules()
	files[".config/opencode/opencode.jsonc"] = opencodeConfig
	return kind{files: files, env: func(*rig) []string { return []string{"OPENCODE_DISABLE_MODELS_FETCH=1"} }}
}

// opencodeModules says that what plugins import is in place: OpenCode would look
// for it in a network that is not there, for more than a minute.
func opencodeModules() map[string]func(*rig) string {
	wants := `"dependencies": {"@opencode-ai/plugin": "1.18.33"}`
	return map[string]func(*rig) string{
		".config/opencode/package.json":       func(*rig) string { return "{" + wants + "}" },
		".config/opencode/package-lock.json":  func(*rig) string { return `{"lockfileVersion": 3, "packages": {"": {` + wants + `}}}` },
		".config/opencode/node_modules/.keep": func(*rig) string { return "" },
	}
}

// opencodeAtWork is a model that uses tools, first one of OpenCode's own, then one
// of ours, each until it is told of urgent mail; that gets mail when it is about to
// end; and that thinks until it is interrupted.
func opencodeAtWork(r *rig, urgently, atEnd, thinking chan<- c3po.Receipt) brain {
	sent, steps := 0, 0
	return reading("port 8080", func(asked request) step {
		told := strings.Count(asked.all, "urgent message")
		switch {
		case strings.Contains(asked.fresh, "come to an end"):
			atEnd <- r.ask("Which port?")
			return done(asked)
		case strings.Contains(asked.fresh, "think long"):
			thinking <- r.ask("Which port?")
			<-r.t.Context().Done()
			return done(asked)
		case !strings.Contains(asked.all, "work hard") || told == 2:
			return done(asked)
		case steps > 40:
			return step{text: "NO-NOTICE"}
		case told == sent:
			sent++
			urgently <- r.ask("Which port?", urgent)
		}
		if steps++; told == 0 {
			return step{tool: "bash", input: map[string]any{"command": "true", "description": "a step"}}
		}
		return step{tool: "list_agents", input: map[string]any{}}
	})
}

// Claims: C10, C13
func TestOpenCodeAnswersMail(t *testing.T) {
	t.Parallel()
	urgently, atEnd, thinking := make(chan c3po.Receipt, 2), make(chan c3po.Receipt, 1), make(chan c3po.Receipt, 1)
	r := newRig(t, "opencode", func(r *rig) brain { return opencodeAtWork(r, urgently, atEnd, thinking) })
	term := r.open("opencode")
	term.see("Ask anything")
	term.enter("hello")
	term.see("ALL-DONE")
	if !faultrig.Within(20*time.Second, r.online) {
		t.Fatal("it is not online")
	}
	term.rest()
	t.Run("that comes while it is idle, and leaves alone what its person types", func(t *testing.T) {
		term.tmux("send-keys", "-l", "a half thought")
		term.see("a half thought")
		began := time.Now()
		receipt := r.ask("Which port?")
		if receipt.Reachability != c3po.ReachNow {
			t.Errorf("the sender is told that it is read %s", receipt.Reachability)
		}
		r.answered(receipt, "port 8080", 60)
		faultrig.Hold(t, "an idle OpenCode has answered", time.Since(began), 5*time.Second)
		term.rest()
		term.see("a half thought")
		term.tmux("send-keys", "C-u")
		r.cost()
	})
	t.Run("that is urgent in the middle of a turn", func(t *testing.T) {
		term.enter("work hard")
		for range 2 {
			receipt := <-urgently
			r.answered(receipt, "port 8080", 60)
			r.received(receipt)
		}
		if strings.Contains(r.model.read(), "NO-NOTICE") {
			t.Error("it was not told")
		}
		term.rest()
	})
	t.Run("at the end of a turn", func(t *testing.T) {
		term.enter("come to an end")
		r.answered(<-atEnd, "port 8080", 60)
		term.rest()
	})
	t.Run("after an interrupted turn only when its person has had the word", func(t *testing.T) {
		term.enter("think long")
		receipt := <-thinking
		// It takes two, one soon after the other.
		if !faultrig.Within(time.Minute, func() bool {
			term.tmux("send-keys", "Escape")
			return faultrig.Within(300*time.Millisecond, func() bool { return strings.Contains(term.tmux("capture-pane", "-p"), "interrupted") })
		}) {
			t.Fatal("the turn is not interrupted")
		}
		asked := r.model.count()
		if faultrig.Within(3*time.Second, func() bool { return r.model.count() > asked }) {
			t.Error("a turn was started though its person has just ended one")
		}
		term.enter("go on")
		r.answered(receipt, "port 8080", 60)
	})
	if shown := r.model.read(); !strings.Contains(shown, "c3po: you are api.") || !strings.Contains(shown, `Use when a line begins with`) {
		t.Error("it was not greeted, or the skill was not offered")
	}
}

// received wants it proved that the client has taken a message.
func (r *rig) received(receipt c3po.Receipt) {
	r.t.Helper()
	if !faultrig.Within(5*time.Second, func() bool {
		trace, err := r.as("web").Trace(r.t.Context(), c3po.MessageInput{MessageID: receipt.ID})
		return err == nil && trace.Received != nil
	}) {
		r.t.Error("that the client has the message is not proved")
	}
}

// Claims: C10
func TestUninstallingLeavesTheFilesOfOpenCodeAsTheyWere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, "opencode", "http://127.0.0.1:1", idly)
	config := filepath.Join(r.home(), ".config", "opencode", "opencode.jsonc")
	plugin := filepath.Join(r.home(), ".config", "opencode", "plugin", "c3po.ts")
	r.c3po("install", "opencode")
	if out := r.c3po("install", "opencode"); !strings.Contains(out, "OpenCode has c3po already") {
		t.Errorf("twice is not once: %s", out)
	}
	r.c3po("uninstall", "opencode")
	if diff := cmp.Diff(opencodeConfig(r), r.text(config)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Dir(plugin)); !os.IsNotExist(err) {
		t.Errorf("the plugin is left: %v", err)
	}
	// With OpenCode itself as the one who edits.
	r.c3po("install", "opencode")
	r.run("opencode", "mcp", "add", "other", "--", "true")
	r.c3po("uninstall", "opencode")
	if text := r.text(config); strings.Contains(text, "c3po") || !strings.Contains(text, `"other"`) || !strings.Contains(text, "// mine") {
		t.Errorf("%s", text)
	}
}

func (r *rig) text(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// compile checks the plugin against the types of OpenCode, and writes it as
// JavaScript to a folder.
func (r *rig) compile(plugin, folder string) {
	r.t.Helper()
	modules := filepath.Dir(programs(r.t, "opencode"))
	r.write("check/tsconfig.json", fmt.Sprintf(`{
  "files": [%q],
  "compilerOptions": {
    "strict": true, "noEmitOnError": true, "rootDir": %q, "outDir": %q, "noUncheckedIndexedAccess": true, "noUnusedLocals": true,
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler",
    "typeRoots": [%q], "types": ["node"],
    "paths": {"@opencode-ai/plugin": [%q]}
  }
}`, plugin, filepath.Dir(plugin), folder, filepath.Join(modules, "@types"), filepath.Join(modules, "@opencode-ai", "plugin", "dist", "index.d.ts")))
	r.run(filepath.Join(modules, ".bin", "tsc"), "-p", filepath.Join(r.home(), "check"))
}

// Claims: C10
func TestWithoutACoordinatorOpenCodeWorksAsIfC3POWereNotThere(t *testing.T) {
	t.Parallel()
	var last time.Time
	var gap time.Duration
	r := newRigAt(t, "opencode", "http://127.0.0.1:1", func(*rig) brain {
		steps := 0
		return func(request) step {
			// The shortest time a step takes is what it takes when nothing else runs.
			if took := time.Since(last); steps > 0 && (gap == 0 || took < gap) {
				gap = took
			}
			last = time.Now()
			if steps++; steps%6 == 0 {
				steps = 0
				return step{text: "ALL-DONE"}
			}
			return step{tool: "bash", input: map[string]any{"command": "true", "description": "a step"}}
		}
	})
	turn := func() time.Duration {
		gap = 0
		if out, _ := r.run("opencode", "run", "do some work"); !strings.Contains(out, "ALL-DONE") {
			t.Errorf("%s", out)
		}
		return gap
	}
	without := turn()
	r.c3po("install", "opencode")
	with := turn()
	t.Logf("a step of a turn without c3po %v, with it and no coordinator %v", without, with)
	faultrig.Hold(t, "a step takes longer by", with-without, 300*time.Millisecond)
}
