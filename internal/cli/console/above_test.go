package console

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestTheProgramsOfCodingAgentsAreKnown(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/usr/local/bin/claude --resume": "claude", "codex exec x": "codex", "/opt/codex/codex app-server": "codex", "Kimi Code": "kimi",
		"node /usr/bin/gemini -p x": "gemini", "node --no-warnings=DEP0040 /usr/bin/gemini": "gemini", "python3 /home/u/.local/bin/kimi": "kimi",
		"node /usr/lib/node_modules/@google/gemini-cli/dist/index.js": "gemini-cli", "bun /x/node_modules/opencode-ai/bin/o": "opencode-ai",
		"/usr/bin/.opencode": "opencode", "c3po mcp --client x": "c3po mcp", "/opt/c3po --as api run -- bash": "c3po run", "copilot.exe": "copilot",
		// And what is a person's.
		"bash": "", "vim claude": "", "bash codex": "", "node /home/u/codex/build.js": "", "c3po agent run": "", "c3po send bob run": "", "tmux new claude": "", "claude-docker": "", "node": "", "": "",
	} {
		args := strings.Fields(line)
		if line == "Kimi Code" {
			args = []string{line}
		}
		if got := clientOf(nil, args); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
	if got := clientOf([]string{"/usr/bin/node", "claude"}, []string{"node", "cli.js"}); got != "claude" {
		t.Errorf("one that calls itself claude is %q", got)
	}
}

// What an agent's command was given when it was started stays, whatever it clears.
func TestAProcessKeepsWhatItWasStartedWith(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the variables of processes are read on Linux")
	}
	for variable, want := range map[string]bool{"CLAUDECODE=1": true, "CLAUDECODE=": false, "EDITOR=vi": false} {
		cmd := exec.CommandContext(t.Context(), "cat")
		cmd.Env = []string{variable}
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := agentProcess(cmd.Process.Pid) != ""; got != want {
			t.Errorf("with %s it is an agent's: %v", variable, got)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
	if above, whole := (&Console{Process: Process{Top: os.Getppid()}}).lineage(); len(above) > 0 || !whole {
		t.Errorf("above the top are %v, %v", above, whole)
	}
}
