package agentside

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/reach"
	"github.com/c3po-dev/c3po/internal/runner"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

func agentPrompt(a *console.Console) *cobra.Command {
	var flags showFlags
	var model, network string
	cmd := &cobra.Command{
		Use:   "prompt TEXT",
		Short: "Run one prompt in a container, in the current folder",
		Long: `Run one prompt in a container that has the current folder as its workspace, and
show the result. With - the prompt is read from stdin.`,
		Example: `  c3po agent prompt "What does this repository do?"
  c3po agent prompt -s "Fix the failing test"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			how, err := flags.streaming(runner.Buffered)
			if err == nil {
				err = checkNetwork(network)
			}
			if err != nil {
				return err
			}
			prompt, err := a.Body(args)
			if err != nil {
				return err
			}
			cfg, folder, err := runnerHere(a, cmd, flags.runtime)
			if err != nil {
				return err
			}
			options := runner.PromptOptions{How: how, Build: flags.build, Model: model, Network: network}
			return exitError(runner.New(cfg).Prompt(cmd.Context(), folder, prompt, options))
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&model, "model", "", "the model, in the words of Claude Code")
	addNetwork(cmd, &network)
	return cmd
}

func addNetwork(cmd *cobra.Command, network *string) {
	cmd.Flags().StringVar(network, "network", agentfile.NetworkOwn,
		"own; none: the coordinator alone; host: with all that listens on this host's loopback")
}

func checkNetwork(network string) error {
	if !slices.Contains(agentfile.Networks(), network) {
		return console.BadUsage(fmt.Sprintf("--network cannot be %.40q", network), "Give one of "+strings.Join(agentfile.Networks(), ", ")+".")
	}
	return nil
}

// runnerHere is a runner for the current folder.
func runnerHere(a *console.Console, cmd *cobra.Command, runtime string) (runner.Config, string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return runner.Config{}, "", console.BadUsage("the current folder has no name", "Change into one that has.")
	}
	cfg, err := withContainers(cmd.Context(), a, runtime)
	if err != nil {
		return cfg, folder, err
	}
	// A prompt and a shell need no coordinator; with one they are given what an
	// agent is.
	if known, err := knowsCoordinator(a); err == nil && known {
		if cfg.Coordinator, err = runnerAccess(cmd.Context(), a); err != nil {
			cfg.Log.WarnContext(cmd.Context(), "runs without c3po", "err", err)
			cfg.Coordinator = runner.Coordinator{}
		}
	}
	return cfg, folder, nil
}

// knowsCoordinator says whether this host was told of one.
func knowsCoordinator(a *console.Console) (bool, error) {
	mine, err := a.Folders.Credentials()
	return mine != nil || a.URL != "" || a.Getenv(console.TokenVariable) != "", err
}

func agentShell(a *console.Console) *cobra.Command {
	var build bool
	var runtime, network string
	cmd := &cobra.Command{
		Use:   "shell",
		Short: "Open a shell in a container, with all that a prompt would have",
		Long: `Open a shell in a container that has the current folder as its workspace, and what
a prompt would have. Nothing is checked or updated before.`,
		Example: `  c3po agent shell
  echo "claude --version" | c3po agent shell`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkNetwork(network); err != nil {
				return err
			}
			cfg, folder, err := runnerHere(a, cmd, runtime)
			if err != nil {
				return err
			}
			return exitError(runner.New(cfg).Shell(cmd.Context(), folder, build, network))
		},
	}
	cmd.Flags().BoolVarP(&build, "build", "b", false, "build the image although it is current")
	addNetwork(cmd, &network)
	addRuntime(cmd, &runtime)
	return cmd
}

func agentSetup(a *console.Console) *cobra.Command {
	var runtime string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Store the token that Claude Code logs in with",
		Long: `Store the token that Claude Code logs in with inside containers. On a terminal it
is made by claude setup-token, in a container; else it is read from stdin.`,
		Example: `  c3po agent setup
  claude setup-token | tail -n 1 | c3po agent setup`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := runnerConfig(a)
			if err != nil {
				return err
			}
			if cfg.Terminal {
				var folder string
				if cfg, folder, err = runnerHere(a, cmd, runtime); err != nil {
					return err
				}
				if err := exitError(runner.New(cfg).SetupToken(cmd.Context(), folder)); err != nil {
					return err
				}
				fmt.Fprint(a.Stderr, "Paste the token: ")
			}
			token, err := bufio.NewReader(io.LimitReader(a.Stdin, console.MaxInputBytes)).ReadString('\n')
			if err != nil && err != io.EOF {
				return err
			}
			if err := runner.New(cfg).StoreLogin(token); err != nil {
				return err
			}
			return a.Show(map[string]string{"stored": cfg.Places.Login}, func(w io.Writer) {
				fmt.Fprintf(w, "the token is in %s\n", console.Inline(cfg.Places.Login))
			})
		},
	}
	addRuntime(cmd, &runtime)
	return cmd
}

func agentSetupC3PO(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "setup-c3po URL TOKEN",
		Short: "Let this host start agents of a coordinator",
		Long: `Let this host start agents of a coordinator, with a token of the role runner, or
with one of the role admin, of which a runner's is made. With - the token is read
from stdin, where nobody sees it among the arguments. c3po join, with an
invitation that c3po invite --runner has printed, does the same and more.`,
		Example: `  cat token | c3po agent setup-c3po http://localhost:8420 -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := a.Body(args[1:])
			if err != nil {
				return err
			}
			if args[1] != "-" {
				a.Warn("others on this machine can read a token among the arguments", "Write - in its place and give it on stdin.")
			}
			config, err := a.Folders.Config()
			if err != nil {
				return err
			}
			mine, err := paths.ReadCredentials(config)
			if err != nil {
				return err
			}
			if mine != nil && !mine.For(args[0]) {
				return c3po.Errorf(c3po.InvalidRequest, "this host is already one of %s", mine.URL).
					Suggest("Remove %s first, if that is over.", config+"/credentials.json")
			}
			if mine == nil {
				mine = &paths.Credentials{URL: strings.TrimRight(args[0], "/")}
			}
			if mine.Runner, err = runnerTokenFrom(a, cmd, *mine, strings.TrimSpace(token)); err != nil {
				return err
			}
			if err := mine.Write(config); err != nil {
				return err
			}
			return a.Show(map[string]string{"url": mine.URL}, func(w io.Writer) {
				fmt.Fprintf(w, "this host may start agents of %s\n", console.Inline(mine.URL))
			})
		},
	}
}

// runnerTokenFrom is the token that was given, or if that is an admin's, one of
// a runner made with it: what agents are near must not be able to do everything.
func runnerTokenFrom(a *console.Console, cmd *cobra.Command, mine paths.Credentials, token string) (string, error) {
	trust, err := reach.Trust(mine.CA)
	if err != nil {
		return "", err
	}
	socket, err := reach.SocketOf(a.Folders, mine.URL)
	if err != nil {
		return "", err
	}
	c := client.New(client.Config{URL: mine.URL, Socket: socket, Token: token, TLS: trust, ClientName: "cli", Version: a.Version})
	made, err := c.CreateToken(cmd.Context(), containersToken())
	if err == nil {
		return made.Secret, nil
	}
	if c3po.AsError(err).Code != c3po.Forbidden {
		return "", err
	}
	info, err := c.ServerInfo(cmd.Context(), c3po.None{})
	if err == nil && info.Access.Role == c3po.RoleAgent {
		return "", c3po.Errorf(c3po.Forbidden, "this token is an agent's, and cannot start agents").
			Suggest("Give one of the role runner: `c3po token create --role runner --agents 'docker/*'`.")
	}
	return token, err
}
