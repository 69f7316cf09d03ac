package agentside

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A hostProcess is one of this user as it is seen from outside.
type hostProcess struct {
	parent int
	args   []string
	folder string // in which it works; empty if that is not known
}

// isAwaited says that a person's client waits at its terminal for a session that another
// process has. It starts nothing of ours before it has the session, so its process is all
// there is to see.
func isAwaited(s paths.Session) bool {
	all := map[int]hostProcess{}
	for pid, parent := range engine.Ours() {
		p := hostProcess{parent: parent}
		if slices.ContainsFunc(engine.Names(pid), func(name string) bool { return isProgram(name, s.Client) || isProgram(name, "c3po") }) {
			p.args, _ = engine.Arguments(pid)
			p.folder = engine.Folder(pid)
		}
		all[pid] = p
	}
	return awaits(all, s)
}

// isProgram says that a file, or what a process calls itself, is a program: c3po may have
// been built under a longer name.
func isProgram(file, program string) bool { return strings.HasPrefix(filepath.Base(file), program) }

// awaits says that one of these processes opens the session and has started none of ours.
func awaits(all map[int]hostProcess, s paths.Session) bool {
	served := map[int]bool{} // what has a session process of ours below it
	for _, p := range all {
		if len(p.args) < 2 || !isProgram(p.args[0], "c3po") || p.args[1] != "mcp" {
			continue
		}
		for above := p.parent; above > 1 && !served[above]; above = all[above].parent {
			served[above] = true
		}
	}
	for pid, p := range all {
		if reopens(p.args, s) && !served[pid] && (slices.Contains(p.args, s.ID) || p.folder == s.Folder) {
			return true
		}
	}
	return false
}

var anySession = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}$`)

// reopens says that a command line opens this session, or one that it does not name, at a
// terminal: codex exec resume is a script's, or ours.
func reopens(args []string, s paths.Session) bool {
	if len(args) < 2 || !isProgram(args[0], s.Client) || !slices.Contains(args, "resume") || slices.Contains(args, "exec") || slices.Contains(args, "e") {
		return false
	}
	named := slices.IndexFunc(args, anySession.MatchString)
	return named < 0 || args[named] == s.ID
}
