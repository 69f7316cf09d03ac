package agentside

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/clients"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/verify"
)

// A proof is what verify prints as JSON.
type proof struct {
	Passed bool            `json:"passed"`
	Agent  c3po.AgentID    `json:"agent"` // the probes were its mail
	Paths  []verify.Result `json:"paths"`
}

// restSession is the reader that verify itself is.
const restSession = "verify"

func Verify(a *console.Console) *cobra.Command {
	var live string
	var seconds int
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Test every delivery path on this host",
		Long: `Send a probe over every delivery path of this host, and check its trace. The paths
are the coordinator, a wait, and the tools, hooks and monitor of each coding agent
that c3po is installed into. Probes go from the agent verify-HOST to itself, so they
wake nobody.

With --live a running session is asked to ack a probe instead.

The exit code is 0 if all paths work and 1 if one fails. It is 3 if the coordinator
cannot be reached, and 4 if the session does not ack in time.`,
		Example: `  c3po verify
  c3po verify --timeout 15`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if seconds < 0 {
				return console.BadUsage("--timeout must not be negative", "Give the seconds that one way may take.")
			}
			return prove(cmd.Context(), a, live, time.Duration(seconds)*time.Second)
		},
	}
	cmd.Flags().StringVar(&live, "live", "", "agent whose running session is asked to ack a probe")
	console.SecondsFlag(cmd.Flags(), &seconds, "timeout", 0, "how long one path may take; 10s if left out, with --live 2m")
	return cmd
}

func prove(ctx context.Context, a *console.Console, live string, limit time.Duration) error {
	cfg, id, done, err := verification(ctx, a)
	if err != nil {
		return err
	}
	defer done()
	cfg.Limit = limit
	tell := func(r verify.Result) {
		if !a.JSON {
			r.Fix = fixForPerson(a, r.Fix)
			printPath(a.Stdout, a.Ink(), r)
		}
	}
	p := proof{Agent: id}
	if live != "" {
		p.Paths = []verify.Result{verify.Live(ctx, cfg, live)}
		tell(p.Paths[0])
	} else {
		for _, i := range Installations(ctx, a) {
			if i.Folder != "" || i.Err != nil {
				cfg.Clients = append(cfg.Clients, i.verifyClient(cfg.Own.Env))
			}
		}
		for _, c := range clients.All() {
			if i, err := NewFileInstaller(a, c, InstallFlags{}); err == nil && i.Plan.Installed() {
				cfg.Clients = append(cfg.Clients, i.verifyClient(cfg.Own.Env))
			}
		}
		p.Paths = verify.Run(ctx, cfg, tell)
	}
	for i := range p.Paths {
		p.Paths[i].Fix = fixForPerson(a, p.Paths[i].Fix)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	code := pathsCode(p.Paths)
	p.Passed = code == console.ExitOK
	if err := a.Show(p, func(w io.Writer) { printProof(w, a.Ink(), p) }); err != nil || p.Passed {
		return err
	}
	return &console.EndedError{Code: code}
}

// verification is everything but the clients. done gives up what it holds.
func verification(_ context.Context, a *console.Console) (cfg verify.Config, id c3po.AgentID, done func(), err error) {
	r, err := RunOf(a, os.Getpid())
	if err != nil {
		return cfg, "", nil, err
	}
	id = c3po.AgentIDFromFolder("verify-" + r.Host)
	reach, err := a.ClientConfig(id)
	if err != nil {
		return cfg, "", nil, err
	}
	// What this process starts belongs to its run, and so to the same agent.
	reach.Run, reach.Session, reach.ClientName = r.Name, restSession, "verify"
	program, err := os.Executable()
	if err != nil {
		return cfg, "", nil, err
	}
	state, err := a.Folders.State()
	if err != nil {
		return cfg, "", nil, err
	}
	lock, err := paths.TryLock(filepath.Join(state, "verify.lock"))
	if err == nil && lock == nil {
		return cfg, "", nil, c3po.Errorf(c3po.InvalidRequest, "another c3po verify runs here").Suggest("Try again when it has ended.")
	}
	done = func() {
		if lock != nil {
			_ = lock.Release()
		}
	}
	return verify.Config{
		Service: client.New(reach), Session: restSession,
		Profile: c3po.RegisterInput{Type: c3po.TypeProbe, Host: r.Host, PID: r.PID, PIDStart: r.Started},
		Own:     verify.Command{Args: []string{program, "mcp"}, Env: probeEnv(a, id, reach.Space)},
	}, id, done, nil
}

// probeEnv is what the commands of a client are started with: the environment of
// this process, as a client that runs in it as the probe agent would change it.
func probeEnv(a *console.Console, id c3po.AgentID, space c3po.Space) []string {
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		// Those by which an agent is known that may have started this one.
		return strings.HasPrefix(variable, "CLAUDE") || strings.HasPrefix(variable, "C3PO_RUN=")
	})
	env = append(env, fmt.Sprintf("CLAUDE_PID=%d", os.Getpid()), "CLAUDE_PROJECT_DIR="+os.TempDir(), "C3PO_AGENT_ID="+string(id))
	if a.URL != "" {
		env = append(env, "C3PO_COORDINATOR_URL="+a.URL)
	}
	if space != "" {
		env = append(env, "C3PO_SPACE="+string(space))
	}
	return env
}

// pathsCode is the exit code that says how the worst path did.
func pathsCode(all []verify.Result) int {
	worst := console.ExitOK
	for _, r := range all {
		if r.Verdict != verify.Failed {
			continue
		}
		if code := console.ExitCode(r.Code); code == console.ExitDown || code == console.ExitTimeout {
			return code
		}
		worst = console.ExitRefused
	}
	return worst
}

func printPath(w io.Writer, in console.Ink, r verify.Result) {
	verdict := in.Good("passed ")
	switch r.Verdict {
	case verify.Failed:
		verdict = in.Bad("FAILED ")
	case verify.Skipped:
		verdict = in.Warn("skipped")
	}
	took := ""
	if r.Verdict != verify.Skipped {
		took = in.Faint(fmt.Sprintf(" (%d ms)", r.TookMS))
	}
	fmt.Fprintf(w, "%s  %s: %s%s\n", verdict, in.Bold(console.Inline(r.Path)), console.Inline(r.Says), took)
	if r.Fix != "" {
		fmt.Fprintf(w, "         %s %s\n", in.Warn("fix:"), console.Inline(r.Fix))
	}
}

func printProof(w io.Writer, in console.Ink, p proof) {
	var broken []string
	passed := 0
	for _, r := range p.Paths {
		switch r.Verdict {
		case verify.Passed:
			passed++
		case verify.Failed:
			broken = append(broken, r.Path)
		}
	}
	if p.Passed {
		fmt.Fprintf(w, "%s: mail arrives on all %d ways\n", in.Good("ok"), passed)
		return
	}
	fmt.Fprintf(w, "%s: %s\n", in.Bad("broken"), console.Inline(strings.Join(broken, ", ")))
}

// fixForPerson is what mends a path, in the words of who reads it.
func fixForPerson(a *console.Console, fix string) string {
	return a.ForPerson(c3po.Errorf(c3po.Internal, "").Suggest("%s", fix)).Suggestion
}
