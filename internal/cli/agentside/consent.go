package agentside

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/attend"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// defaultStarts is how often in an hour mail may resume an agent unless the person says
// otherwise.
const defaultStarts = 12

func attendAllow(a *console.Console) *cobra.Command {
	var all bool
	var mode string
	var starts int
	modes := attend.Modes()
	cmd := &cobra.Command{
		Use:   "allow [NAME]",
		Short: "Let mail resume an agent's closed session",
		Long: `Let mail that expects an answer resume the closed session of an agent of this host.

Nobody sits at a resumed session. In the default mode, manual, it can read and answer.
What would open a dialog is a question to you in Claude Code, and denied in others;
--mode gives it more. After so many starts in an hour, --starts, you are asked before
another.`,
		Example: `  c3po attend allow api
  c3po attend allow api --mode acceptEdits`,
		Args: console.Arguments(0, 1, "[NAME]"),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := attendName(args, all)
			if err != nil {
				return err
			}
			if starts < 1 {
				return console.BadUsage("--starts must be at least 1", "To allow none: c3po attend deny "+name)
			}
			if err := checkNear(a, name); err != nil {
				return err
			}
			consent := paths.Consent{Mode: mode, Starts: starts, At: time.Now().UTC()}
			if err := checkMode(a, name, consent); err != nil {
				return err
			}
			if _, err := a.Folders.Consent(name, &consent); err != nil {
				return err
			}
			consents, err := a.Folders.Consents()
			if err != nil {
				return err
			}
			return a.Show(map[string]any{"agent": name, "mode": mode, "starts": starts}, func(w io.Writer) {
				fmt.Fprintf(w, "mail resumes %s when its session is closed, in mode %s, at most %s an hour\n", who(name), mode, console.CountOf(starts, "time"))
				if others := named(consents); name == paths.Everyone && others != "" {
					fmt.Fprintln(w, "except those you have named: "+others)
				}
				fmt.Fprintln(w, "c3po up does that while it runs; on a host that has joined: c3po attend")
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every agent of this host")
	console.CheckedFlag(cmd.Flags(), &mode, "mode", modes[0], "permission mode of resumed sessions: "+strings.Join(modes, ", "), console.OneOf(modes...))
	cmd.Flags().IntVar(&starts, "starts", defaultStarts, "how often in an hour before you are asked")
	return console.WithoutSettings(cmd)
}

// checkMode refuses a mode that the client of the agent's session does not have.
func checkMode(a *console.Console, name string, consent paths.Consent) error {
	for _, s := range attend.Last(a.Folders.Sessions()) {
		if name != string(s.Agent) && name != s.Agent.Name() {
			continue
		}
		if _, ok := attend.Permitted(s, paths.Consents{name: consent}); !ok {
			return console.BadUsage(fmt.Sprintf("%s of %s has no mode as restrictive as %s when nobody sits at it", s.Client, s.Agent, consent.Mode),
				fmt.Sprintf("If it may do everything: c3po attend allow %s --mode %s", name, attend.Bypass))
		}
	}
	return nil
}

func attendDeny(a *console.Console) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "deny [NAME]",
		Short: "Let mail resume an agent's closed session no longer",
		Long: `Take back c3po attend allow. An agent that is denied by its name stays denied
whatever --all allows, until c3po attend allow names it. With --all only agents that
you have allowed by name are resumed.`,
		Example: `  c3po attend deny api
  c3po attend deny --all`,
		Args: console.Arguments(0, 1, "[NAME]"),
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := attendName(args, all)
			if err != nil {
				return err
			}
			was, err := a.Folders.Consent(name, nil)
			if err != nil {
				return err
			}
			consents, err := a.Folders.Consents()
			if err != nil {
				return err
			}
			return a.Show(map[string]any{"agent": name, "was_allowed": was}, func(w io.Writer) {
				if name == paths.Everyone {
					maps.DeleteFunc(consents, isDenied)
					fmt.Fprintln(w, "mail resumes only agents that you allow by name: "+cmp.Or(named(consents), "none yet"))
					return
				}
				if was {
					fmt.Fprintf(w, "mail no longer resumes %s\n", who(name))
				} else {
					fmt.Fprintf(w, "mail did not resume %s; see c3po attend list\n", who(name))
				}
				fmt.Fprintf(w, "it stays denied, also with --all, until: c3po attend allow %s\n", who(name))
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every agent that is not named itself")
	return console.WithoutSettings(cmd)
}

// attendName is whom a command is about.
func attendName(args []string, all bool) (string, error) {
	switch {
	case all && len(args) == 0:
		return paths.Everyone, nil
	case all || len(args) == 0:
		return "", console.BadUsage("give the name of one agent, or --all", "c3po attend list shows them.")
	}
	id, err := c3po.ParseAgentID(args[0])
	return string(id), console.Misspelled(err)
}

// checkNear refuses a name that no agent of this host can have.
func checkNear(a *console.Console, name string) error {
	id := c3po.AgentID(name)
	if id.Reserved() {
		return console.BadUsage(fmt.Sprintf("no agent can be called %s", id), "c3po attend list shows the agents of this host.")
	}
	near := func(s paths.Session) bool { return s.Agent.Host() == id.Host() }
	if id.Host() != "" && !slices.ContainsFunc(a.Folders.Sessions(), near) {
		return console.BadUsage(fmt.Sprintf("no session of this host is called %s, and mail resumes sessions only where they were closed", id),
			fmt.Sprintf("On the agent's own host: c3po attend allow %s", id.Name()))
	}
	return nil
}

// named are the agents that the person has named, with what mail may do with them.
func named(consents paths.Consents) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(consents)) {
		consent := consents[name]
		switch {
		case name == paths.Everyone:
		case consent.Denied:
			all = append(all, who(name)+" (denied)")
		default:
			all = append(all, fmt.Sprintf("%s (%s)", who(name), console.Inline(consent.Mode)))
		}
	}
	return strings.Join(all, ", ")
}

// allowed are those whom mail may resume.
func allowed(consents paths.Consents) string {
	all, some := consents[paths.Everyone]
	maps.DeleteFunc(consents, isDenied)
	words := named(consents)
	if some {
		words = strings.TrimSuffix(fmt.Sprintf("every agent of this host that is not named (%s), %s", console.Inline(all.Mode), words), ", ")
	}
	return words
}

func isDenied(_ string, c paths.Consent) bool { return c.Denied }

func who(name string) string {
	if name == paths.Everyone {
		return "every agent of this host"
	}
	return console.Inline(name)
}

// badInstallFlag points to this command from where one may look for it.
func badInstallFlag(cmd *cobra.Command, err error) error {
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok && missing.GetSpecifiedName() == "resumable" {
		return console.BadUsage("install does not decide which closed sessions mail may resume",
			"c3po attend allow NAME lets mail resume one agent's, c3po attend allow --all those of every agent of this host.")
	}
	return console.BadFlag(cmd, err)
}
