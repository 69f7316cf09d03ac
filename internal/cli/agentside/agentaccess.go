package agentside

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/reach"
	"github.com/c3po-dev/c3po/internal/runner"
	"github.com/c3po-dev/c3po/internal/runner/acp"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

// runnerPlaces are where the runner of this user keeps its files.
func runnerPlaces(a *console.Console) (runner.Places, error) {
	state, err := a.Folders.State()
	if err != nil {
		return runner.Places{}, err
	}
	config, err := a.Folders.Config()
	if err != nil {
		return runner.Places{}, err
	}
	return runner.FindPlaces(a.Home(), config, state), nil
}

// agentFile reads agents.yaml.
func agentFile(a *console.Console, p runner.Places) (*agentfile.File, error) {
	return agentfile.Read(agentfile.Config{Path: p.AgentFile, Home: a.Home(), Clients: runner.Clients(), ACP: acp.Clients()})
}

// agentsOfHost are those of the agents.yaml where it belongs.
func agentsOfHost(a *console.Console) (*agentfile.File, error) {
	p, err := runnerPlaces(a)
	if err != nil {
		return nil, err
	}
	return agentFile(a, p)
}

// containers is the runtime of this host.
func containers(ctx context.Context, a *console.Console, name string) (*container.CLI, error) {
	return container.Find(ctx, container.Config{Runtime: name, Log: runnerLog(a)})
}

func runnerLog(a *console.Console) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// runnerConfig is a runner without a coordinator and without containers.
func runnerConfig(a *console.Console) (runner.Config, error) {
	p, err := runnerPlaces(a)
	cfg := runner.Config{
		Places: p, Getenv: a.Getenv, Started: engine.Started, Stdin: a.Stdin, Stdout: a.OutputForProgram(), Stderr: a.Stderr,
		Terminal: console.IsTerminal(a.Stdin) && console.IsTerminal(a.Stdout), Colour: bool(a.Ink()), Log: runnerLog(a),
	}
	if file, bad := agentFile(a, p); bad == nil && err == nil { // who runs an agent of it is told what is wrong with it
		for _, agent := range file.Agents {
			cfg.Workspaces = append(cfg.Workspaces, agent.Workspace)
		}
	}
	if runtime.GOOS == "linux" {
		cfg.Binary, _ = os.Executable() // without it a container has no c3po, and its check says so
	} else {
		cfg.Binary = a.Getenv("C3PO_BINARY")
	}
	return cfg, err
}

// withContainers is a runner that can run what is nobody's agent.
func withContainers(ctx context.Context, a *console.Console, runtime string) (runner.Config, error) {
	cfg, err := runnerConfig(a)
	if err != nil {
		return cfg, err
	}
	cfg.Containers, err = containers(ctx, a, runtime)
	return cfg, err
}

// withCoordinator is a runner that can run agents.
func withCoordinator(ctx context.Context, a *console.Console, runtime string) (runner.Config, error) {
	cfg, err := withContainers(ctx, a, runtime)
	if err != nil {
		return cfg, err
	}
	cfg.Coordinator, err = runnerAccess(ctx, a)
	return cfg, err
}

// runnerAccess is how the runner of this host reaches the coordinator, with a
// token of its own. On the machine of the coordinator, where there is none yet,
// the person who starts the runner is let make one.
func runnerAccess(ctx context.Context, a *console.Console) (runner.Coordinator, error) {
	cfg, err := a.ClientConfig("")
	if err != nil {
		return runner.Coordinator{}, err
	}
	c := runner.Coordinator{Client: cfg, Token: a.Getenv(console.TokenVariable), Host: hostPart()}
	c.Client.Token = ""
	mine, err := a.Folders.Credentials()
	if err != nil {
		return c, err
	}
	if mine == nil || !mine.For(cfg.URL) {
		return c, nil
	}
	c.CA = mine.CA
	if mine.Host != "" {
		c.Host = mine.Host
	}
	if c.Client.TLS, err = reach.Trust(mine.CA); err != nil || c.Token != "" {
		return c, err
	}
	c.Token = mine.Runner
	if c.Token != "" {
		probe := c.Client
		probe.Token = c.Token
		if _, err := client.New(probe).Ping(ctx, c3po.None{}); !errors.Is(err, c3po.Unauthorized) {
			return c, err
		}
	}
	c.Token, err = makeRunnerToken(ctx, a, *mine)
	return c, err
}

// hostPart is the name of this host as the first part of an id.
func hostPart() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return string(c3po.AgentIDFromFolder(host))
}

// makeRunnerToken makes a token for the runner of this host with the person's
// own, and keeps it. Empty if the person has none for this coordinator.
func makeRunnerToken(ctx context.Context, a *console.Console, mine paths.Credentials) (string, error) {
	person, err := a.Folders.Person()
	if err != nil || person == nil || person.Admin == "" || !person.For(mine.URL) {
		return "", err
	}
	admin, err := a.Person(console.AdminToken)
	if err != nil {
		return "", err
	}
	made, err := admin.CreateToken(ctx, containersToken())
	if err != nil {
		return "", err
	}
	config, err := a.Folders.Config()
	if err != nil {
		return "", err
	}
	mine.Runner = made.Secret
	return mine.Runner, mine.Write(config)
}

// containersToken is what a runner needs: agents in containers, in all spaces.
func containersToken() c3po.TokenInput {
	return c3po.TokenInput{
		Role: c3po.RoleRunner, Agents: c3po.ContainerHost + "/*", Spaces: []string{string(c3po.DefaultSpace), "*"}, Label: "runner of host " + hostPart(),
	}
}
