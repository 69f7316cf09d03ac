package agentside

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/runner/acp"
)

// ACP is what the runner starts in a container for an agent with `via: acp`.
func ACP(a *console.Console) *cobra.Command {
	var session, model string
	var steps bool
	cmd := &cobra.Command{
		Use:   "acp CLIENT PROMPT",
		Short: "Have a coding agent do one prompt by the Agent Client Protocol",
		Long: `Start a coding agent (` + strings.Join(acp.Clients(), ", ") + `) in this folder, have it do one prompt
by the Agent Client Protocol, and end it. It gets c3po's tools, except for Copilot CLI, in which c3po
must be installed. What it says goes to stdout; what it used, and the session that --session goes on
with, to stderr.

Whatever it asks leave for is allowed, once each time: it is for a container, whose walls are what
the agent is kept in. agents.yaml has it as via: acp.`,
		Example: `  c3po acp gemini "Deal with your mail."
  c3po acp opencode --session ses_1 "What did I tell you?"`,
		Args:   console.Arguments(2, 2, "CLIENT PROMPT"),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			by, known := acp.Named(args[0])
			if !known {
				return c3po.Errorf(c3po.InvalidRequest, "%.80q does not speak the Agent Client Protocol", args[0]).
					Suggest("These do: %s.", strings.Join(acp.Clients(), ", "))
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			folder, err := os.Getwd()
			if err != nil {
				return err
			}
			turn := acp.Turn{
				Command: by.Command, Folder: folder, Session: session, Model: model, Prompt: args[1],
				Said: a.Stdout, Stderr: a.Stderr,
				Counted: func(pid int, session string, used c3po.Usage) { tellCounted(cmd.Context(), a, pid, session, used) },
			}
			if by.TakesTools {
				turn.Tools = []string{self, "mcp"}
			}
			if steps {
				turn.Did = a.Stdout
			}
			outcome, err := turn.Do(cmd.Context())
			if outcome.Session != "" {
				used := "usage unknown"
				if outcome.Usage != nil {
					used = outcome.Usage.String()
				}
				fmt.Fprintf(a.Stderr, "\nsession %s, %s\n", console.Inline(outcome.Session), used)
			}
			if err != nil {
				reportRefusal(cmd.Context(), a, err)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "the conversation to go on with")
	cmd.Flags().StringVar(&model, "model", "", "the model, as the client calls it")
	cmd.Flags().BoolVar(&steps, "steps", false, "also a line for each tool it uses")
	return cmd
}

// tellCounted tells the session process of an agent what its turn has used. Where there is
// none the turn had nothing to do with mail.
func tellCounted(ctx context.Context, a *console.Console, agent int, name string, used c3po.Usage) {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	ours := engine.Ours()
	for pid := range ours {
		below := pid
		for below > 1 && below != agent {
			below = ours[below]
		}
		if below != agent {
			continue
		}
		r, err := RunOf(a, pid)
		if err != nil {
			return
		}
		_, _ = session.AskHere(ctx, r.Socket, a.Trust(r.Socket), hook.Event{Name: hook.Counted, SessionID: name, Used: &hook.Used{
			Input: used.InputTokens, Output: used.OutputTokens, CacheRead: used.CacheReadTokens, CacheWrite: used.CacheWriteTokens, USD: float64(used.MicroUSD) / 1e6,
		}})
	}
}

// hasStarted says that a process is above this one: c3po acp tells its agent's session
// process what a turn has used.
func hasStarted(pid int) bool {
	line, _ := engine.Lineage(os.Getpid())
	for _, process := range line {
		if process.PID == pid {
			return true
		}
	}
	return false
}

// refusedTurnPause is how long an agent is out of quota whose client did not say until when:
// its runner starts it for mail again after that.
const refusedTurnPause = 5 * time.Minute

// reportRefusal reports that the agent is out of quota, if that is why its turn has failed. Its
// session has ended by then, and had no hook to hear it by. That it cannot be reported changes
// nothing for who reads the failure.
func reportRefusal(ctx context.Context, a *console.Console, failure error) {
	now := time.Now()
	refusal, ok := hook.Event{Name: hook.StopFailure, Said: failure.Error()}.RefusedForQuota(now)
	if !ok {
		return
	}
	_, id, err := agentHere(a)
	if err != nil {
		return
	}
	cfg, err := a.ClientConfig(id)
	if err != nil {
		return
	}
	cfg.ClientName = "acp"
	left, exact := refusal.Until.Sub(now), !refusal.Until.IsZero()
	if !exact {
		left = refusedTurnPause
	}
	_, _ = client.New(cfg).Received(ctx, c3po.ReceivedInput{Quota: &c3po.QuotaReport{RetryInMS: max(1, left.Milliseconds()), Exact: exact, Evidence: refusal.Evidence}})
}
