package agentside

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/unit"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// unitVariables are what a service gets of the environment it was written in: it
// starts without it, and would look for other files and programs. Secrets are not
// among them.
func unitVariables() []string {
	return []string{"PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "C3PO_COORDINATOR_URL", "C3PO_SPACE", "C3PO_RUNTIME", "C3PO_BINARY", "C3PO_CLAUDE_BINARY", "CLAUDE_CODE_VERSION", "DOCKER_HOST", "CONTAINER_HOST"}
}

// A writtenUnit is a service as its system takes it.
type writtenUnit struct {
	For  string `json:"for"`
	Text string `json:"text"`
}

func agentUnit(a *console.Console) *cobra.Command {
	var system string
	cmd := &cobra.Command{
		Use:   "unit",
		Short: "Print a service that keeps c3po agent up running",
		Long: `Print a unit of systemd, or on macOS a property list of launchd, that keeps
c3po agent up running for this user. Its first lines say where to put it. It has no
secret in it.`,
		Example: `  c3po agent unit
  c3po agent unit --for launchd`,
		RunE: func(*cobra.Command, []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			file, err := agentsOfHost(a)
			if err != nil {
				return err
			}
			return showUnit(a, system, agentService(a, program, file))
		},
	}
	addSystem(cmd, &system)
	return cmd
}

func agentService(a *console.Console, program string, file *agentfile.File) unit.Service {
	s := unit.Service{
		Name: "c3po-agents", Label: "dev.c3po.agents", Description: "c3po agents in containers",
		Program: program, Arguments: []string{"agent", "up"},
		Log:        filepath.Join(a.Home(), "Library", "Logs", "c3po-agents.log"),
		StopWithin: agentfile.DefaultLimits().StopGrace,
	}
	for _, name := range unitVariables() {
		if value := a.Getenv(name); value != "" {
			s.Environment = append(s.Environment, unit.Variable{Name: name, Value: value})
		}
	}
	for _, agent := range file.Agents {
		s.StopWithin = max(s.StopWithin, agent.Limits.StopGrace)
	}
	s.StopWithin += 30 * time.Second // to remove containers and to say goodbye
	return s
}
