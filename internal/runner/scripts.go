package runner

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// inFolder is a command that names a file by its place below the folder it runs in: a word such
// as notes/todo or ./todo, or the plain name in a test such as test -f todo.
var inFolder = regexp.MustCompile(`(^|[\s;&|(<>])(\.{1,2}/|[\w-][\w.-]*/[\w.])|(^|[\s;&|(])(test|\[)\s+(!\s+)?-[a-zA-Z]\s+["']?[\w.]|(^|\s)[<>]+\s*["']?[\w.]|(^|[\s;&|(])(cat|cp|mv|rm|touch)\s+(-\w+\s+)*["']?[\w.]`)

// Misplaced are warnings about commands of an agent that seem to count on running in its
// workspace, as commands did in claude-docker. In a file of that program a command that does not
// say where the workspace is counts as one that names a relative path does elsewhere.
func (r *Runner) Misplaced(agent agentfile.Agent) (warnings []string) {
	old := filepath.Base(filepath.Dir(r.cfg.Places.AgentFile)) == legacy
	misplaced := func(command string) bool {
		if strings.Contains(command, WorkspaceVariable) || strings.Contains(command, agent.Workspace) {
			return false
		}
		return old || inFolder.MatchString(command)
	}
	for _, t := range agent.Triggers {
		if t.Type != agentfile.TriggerScript || !misplaced(t.Command) {
			continue
		}
		warning := fmt.Sprintf("the script trigger %q does not run in the workspace: write $%s/todo, not todo", t.Command, WorkspaceVariable)
		if strings.Contains(t.Command, "-f ") || strings.Contains(t.Command, "-e ") {
			warning += "; a trigger of type file waits for a file without a script"
		}
		warnings = append(warnings, warning)
	}
	for i, command := range agent.PostRun {
		if misplaced(command) {
			warnings = append(warnings, fmt.Sprintf("command %d of post_run, %q, does not run in the workspace: write $%s/todo, not todo", i+1, command, WorkspaceVariable))
		}
	}
	return warnings
}
