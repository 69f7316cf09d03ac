package console

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/host/engine"
)

const CodexName = string(hook.Codex)

// agentVariables are those that coding agents give the commands they run.
var agentVariables = []string{
	"CLAUDECODE", "CLAUDE_PID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID",
	"OPENCODE", "OPENCODE_PID", "GEMINI_CLI", "C3PO_RUN",
}

// clientNames are the programs of coding agents, without an ending like .js.
var clientNames = []string{
	"claude", "claude-code", "codex", "codex-cli", "gemini", "gemini-cli", "opencode", "opencode-ai", "copilot", "kimi", "kimi-cli", "kimi_cli",
}

// agentAbove says why a process above this one is an agent's; empty if none is.
// Files and variables are an agent's to change, what has started it is not: so the
// processes themselves are looked at, up to the first. Where that cannot be done to
// the end the answer is that one may be.
func (a *Console) agentAbove() string {
	if !engine.KnowsProcesses {
		return ""
	}
	above, whole := a.lineage()
	for _, pid := range above {
		if name := agentProcess(pid); name != "" {
			return "a process above it is " + name
		}
	}
	ours := engine.Ours()
	for child := range ours {
		for _, pid := range startersOf(child, ours) {
			if child != os.Getpid() && slices.Contains(above, pid) && isSessionProcess(child) {
				return fmt.Sprintf("%q above it has started c3po mcp", c3po.Clip(programOf(pid)))
			}
		}
	}
	if !whole {
		return "what has started it cannot be told"
	}
	return ""
}

// startersOf are the process that has started a session's c3po mcp and those above it
// that run the same program: an editor starts tools in one process of its own and
// terminals in another. A shell that a person types into is none of them.
func startersOf(child int, parents map[int]int) (pids []int) {
	for pid := parents[child]; pid > 1; pid = parents[pid] {
		if len(pids) > 0 && (programOf(pid) != programOf(pids[0]) || engine.Personal(pid)) {
			break
		}
		pids = append(pids, pid)
	}
	return pids
}

// programOf is the file that a process runs, or what it is called.
func programOf(pid int) string {
	if names := engine.Names(pid); len(names) > 0 {
		return names[0]
	}
	return ""
}

// lineage are the processes above this one, and whether they are all.
func (a *Console) lineage() (above []int, whole bool) {
	line, whole := engine.Lineage(os.Getpid())
	for _, process := range line[min(1, len(line)):] {
		if process.PID == a.Top {
			return above, true
		}
		above = append(above, process.PID)
	}
	return above, whole
}

// agentProcess is which agent a process is, by its program or by what it was given
// when it was started; empty if it is none.
func agentProcess(pid int) string {
	args, _ := engine.Arguments(pid)
	if name := clientOf(engine.Names(pid), args); name != "" {
		return name
	}
	for _, pair := range engine.Environment(pid) {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && slices.Contains(agentVariables, name) {
			return "an agent's (" + name + ")"
		}
	}
	return ""
}

// clientOf is the coding agent that has these names and arguments.
func clientOf(names, args []string) string {
	if len(args) > 0 {
		names = append(slices.Clone(names), args[0])
	}
	for _, name := range names {
		switch name = programName(name); {
		case slices.Contains(clientNames, name):
			return name
		case name == "c3po" && slices.Contains([]string{"mcp", "run"}, commandIn(args)):
			return "c3po " + commandIn(args)
		case name == "node" || name == "bun" || name == "deno" || strings.HasPrefix(name, "python"):
			if client := clientScript(args); client != "" {
				return client
			}
		}
	}
	return ""
}

// clientScript is the coding agent whose script an interpreter runs.
func clientScript(args []string) string {
	for _, arg := range args[min(1, len(args)):] {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		parts := strings.Split(filepath.ToSlash(arg), "/")
		if name := programName(arg); slices.Contains(clientNames, name) {
			return name
		}
		// As in node_modules/@google/gemini-cli/dist/index.js.
		if at := slices.Index(parts, "node_modules"); at >= 0 {
			for _, part := range parts[at:] {
				if slices.Contains(clientNames, part) {
					return part
				}
			}
		}
		return ""
	}
	return ""
}

// programName is the name of a program, however it is written.
func programName(path string) string {
	name := strings.ToLower(strings.TrimPrefix(filepath.Base(path), "."))
	for _, ending := range []string{".exe", ".js", ".mjs", ".cjs", ".py"} {
		name = strings.TrimSuffix(name, ending)
	}
	name, _, _ = strings.Cut(name, " ") // some give themselves a title
	return name
}

// commandIn is the command that c3po was given.
func commandIn(args []string) string {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--url" || arg == "--as" || arg == "--space":
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg
		}
	}
	return ""
}

// isSessionProcess says that a process is c3po mcp, whatever the program is called.
func isSessionProcess(pid int) bool {
	args, _ := engine.Arguments(pid)
	if commandIn(args) != "mcp" {
		return false
	}
	own, err := os.Executable()
	names := append(engine.Names(pid), args[0])
	return err == nil && slices.Contains(names, own) || slices.ContainsFunc(names, func(name string) bool { return programName(name) == "c3po" })
}

// SessionAbove is the socket of the session process of the nearest process above this one
// that has one.
func (a *Console) SessionAbove() (socket string, ok bool) {
	runs, _ := Ancestors(os.Getppid())
	return a.SessionOf(runs)
}

// SessionOf is the socket of the first of these runs that has a session process.
func (a *Console) SessionOf(runs []string) (socket string, ok bool) {
	for _, run := range runs {
		socket, err := a.Folders.SocketFile(session.SocketName(run))
		if err != nil {
			return "", false
		}
		if _, err := os.Stat(socket); err == nil {
			return socket, true
		}
	}
	return "", false
}

// Trust says of who listens at the socket of a session that it is its session process: the
// client has started it itself. Where nobody can tell, everybody is trusted.
func (a *Console) Trust(socket string) session.Trust {
	return func(conn net.Conn) bool {
		if !auth.KnowsPeers {
			return true
		}
		runs, _ := Ancestors(auth.PeerPID(conn))
		if len(runs) < 2 {
			return false
		}
		own, err := a.Folders.SocketFile(session.SocketName(runs[1]))
		return err == nil && own == socket
	}
}
