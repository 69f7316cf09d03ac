package mail

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// registerFile announces the agents of a file, each as itself.
func registerFile(ctx context.Context, a *console.Console, name string) error {
	agents, err := readRegistry(name)
	if err != nil {
		return err
	}
	done := []dialect.Registered{}
	var failed []string
	var why error
	for _, in := range agents {
		out, err := registerListed(ctx, a, in)
		if err != nil {
			// The others are announced whatever is wrong with one.
			failed, why = append(failed, fmt.Sprintf("%s: %s", in.AgentID, c3po.AsError(err).Message)), err
			continue
		}
		done = append(done, out)
	}
	if err := a.Show(done, func(w io.Writer) {
		for _, out := range done {
			printRegistered(w, out)
		}
	}); err != nil || len(failed) == 0 {
		return err
	}
	return c3po.Errorf(c3po.AsError(why).Code, "%d of %d agents are not registered: %s", len(failed), len(agents), strings.Join(failed, "; ")).
		Suggest("%s", c3po.AsError(why).Suggestion)
}

func registerListed(ctx context.Context, a *console.Console, in dialect.Register) (dialect.Registered, error) {
	a.As = in.AgentID
	svc, err := a.Acting()
	if err != nil {
		return dialect.Registered{}, err
	}
	return dialect.Broker{Service: svc}.Register(ctx, in, c3po.DefaultLimits().OnlineWindow)
}

// readRegistry reads a list of agents, or an object that has one under agents.
func readRegistry(name string) ([]dialect.Register, error) {
	text, err := os.ReadFile(name) // #nosec G304 -- the file the person names
	if err != nil {
		return nil, c3po.Because(err, c3po.InvalidRequest, fmt.Sprintf("%s cannot be read", name)).Suggest("Name a file of agents.")
	}
	var file struct {
		Agents []dialect.Register `json:"agents"`
	}
	if json.Unmarshal(text, &file.Agents) != nil && json.Unmarshal(text, &file) != nil || len(file.Agents) == 0 {
		return nil, c3po.Errorf(c3po.InvalidRequest, "%s is not a file of agents", name).
			Suggest(`For example {"agents": [{"agentId": "Jerry", "type": "codex"}]}.`)
	}
	for _, agent := range file.Agents {
		if agent.AgentID == "" {
			return nil, c3po.Errorf(c3po.InvalidRequest, "an agent in %s has no agentId", name).Suggest("Give each agent an agentId.")
		}
	}
	return file.Agents, nil
}

func printRegistered(w io.Writer, out dialect.Registered) {
	fmt.Fprintf(w, "registered %s; it is online until %s, and longer if it is heard of\n", console.Inline(string(out.AgentID)), out.ExpiresAt.Local().Format("15:04:05"))
}
