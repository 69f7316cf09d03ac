package agentside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// commitTimeout is how long a commit waits to hear of leases. Then it goes on.
const commitTimeout = 3 * time.Second

func Leases(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leases",
		Short: "Show who edits which files",
		Long: `Show who edits which files, in repositories where leases are on. There, a coding
agent's edit takes a lease of the file first, and is refused while another session holds
it. A lease ends when the file is committed or unchanged again, when its session ends or
shows no work for 30 minutes, or when you release it.`,
		Example: `  c3po leases
  c3po leases --json`,
		Args: console.UnknownCommand,
		RunE: console.Operation(a, a.Looking, c3po.Service.LeaseList, func([]string) (c3po.LeaseListInput, error) { return c3po.LeaseListInput{}, nil },
			func(w io.Writer, list c3po.LeaseList) { printLeases(w, time.Now(), list.Leases) }),
	}
	cmd.AddCommand(leasesOn(a), leasesOff(a), leasesRelease(a), leasesCheck(a))
	return cmd
}

func printLeases(w io.Writer, now time.Time, leases []c3po.Lease) {
	if len(leases) == 0 {
		fmt.Fprintln(w, "nobody edits a leased file")
	}
	for _, l := range leases {
		fmt.Fprintf(w, "%d  %s\n", l.Number, leaseLine(now, l))
	}
}

// leaseLine says who edits a file, where, since when and for what.
func leaseLine(now time.Time, l c3po.Lease) string {
	text := fmt.Sprintf("%s  %s, for %s", console.Inline(l.Path), console.Inline(string(l.Holder)), c3po.Age(now.Sub(l.Since)))
	if l.Branch != "" {
		text += ", on " + console.Inline(l.Branch)
	}
	if l.Task != "" {
		text += ": " + console.Inline(l.Task)
	}
	return text
}

// A leaseSwitch is what on and off print as JSON.
type leaseSwitch struct {
	State      string `json:"state"`
	Folder     string `json:"folder"`
	Repository string `json:"repository,omitempty"`
	PreCommit  string `json:"pre_commit,omitempty"` // the file of the hook
}

func leasesOn(a *console.Console) *cobra.Command {
	var preCommit bool
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Lease the files of this repository",
		Long: `Lease the files of the current folder's repository, in all its working trees. Nothing
is committed: .git/config says so. Each clone is switched on by itself, and clones of one
repository share their leases. Leases in different branches do not meet.

With --pre-commit, git also refuses to commit a file that another session has leased since.`,
		Example: `  c3po leases on
  c3po leases on --pre-commit`,
		RunE: func(*cobra.Command, []string) error {
			checkout, err := checkoutHere()
			if err != nil {
				return err
			}
			done := leaseSwitch{State: "on", Folder: checkout.Top}
			if done.Repository, err = checkout.SetLeases(true); err != nil {
				return err
			}
			if preCommit {
				if done.PreCommit, err = installPreCommit(checkout); err != nil {
					return err
				}
			}
			return a.Show(done, func(w io.Writer) {
				fmt.Fprintf(w, "leases are on in %s (repository %s)\n", console.Inline(done.Folder), done.Repository)
				if done.PreCommit != "" {
					fmt.Fprintf(w, "git checks them before a commit: %s\n", console.Inline(done.PreCommit))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&preCommit, "pre-commit", false, "have git refuse to commit a file that another session has leased since")
	return console.WithoutSettings(cmd)
}

func leasesOff(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "off",
		Short:   "Lease the files of this repository no longer",
		Long:    "Lease the files of the current folder's repository no longer, and remove the hook that --pre-commit has made.",
		Example: `  c3po leases off`,
		RunE: func(*cobra.Command, []string) error {
			checkout, err := checkoutHere()
			if err != nil {
				return err
			}
			if _, err := checkout.SetLeases(false); err != nil {
				return err
			}
			if err := removePreCommit(checkout); err != nil {
				return err
			}
			done := leaseSwitch{State: "off", Folder: checkout.Top}
			return a.Show(done, func(w io.Writer) { fmt.Fprintf(w, "leases are off in %s\n", console.Inline(done.Folder)) })
		},
	}
	return console.WithoutSettings(cmd)
}

func checkoutHere() (paths.Checkout, error) {
	dir, err := os.Getwd()
	if err != nil {
		return paths.Checkout{}, err
	}
	checkout, ok := paths.CheckoutOf(dir)
	if !ok {
		return checkout, console.BadUsage(fmt.Sprintf("%s is in no git repository", dir), "Run it in the repository whose files are to be leased.")
	}
	return checkout, nil
}

func leasesRelease(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "release NUMBER",
		Short: "End a lease, whoever holds it",
		Long: `End a lease, whoever holds it: another session can edit the file at once. The holder
hears of it at its next edit of the file, if somebody else has it by then.`,
		Example: `  c3po leases release 1763370000123`,
		RunE: console.Operation(a, a.AsPerson(console.HumanToken), c3po.Service.LeaseBreak, func(args []string) (in c3po.LeaseBreakInput, err error) {
			if in.Number, err = strconv.ParseInt(args[0], 10, 64); err != nil {
				return in, console.BadUsage(fmt.Sprintf("%q is no number of a lease", args[0]), "c3po leases shows them.")
			}
			return in, nil
		}, func(w io.Writer, _ c3po.LeaseReleased) { fmt.Fprintln(w, "released") }),
	}
}

func leasesCheck(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Refuse what git is about to commit if its lease has moved on",
		Long: `Check the files that git is about to commit: it fails if another session holds one of
them, or has leased one since this working tree did. c3po leases on --pre-commit has git
run it. If the coordinator does not answer, it says so and the commit goes on.`,
		Example: `  c3po leases check`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checkout, err := checkoutHere()
			if err != nil {
				return err
			}
			in, err := staged(checkout)
			if err != nil {
				return err
			}
			found := c3po.LeaseConflicts{Leases: []c3po.Lease{}}
			for len(in.Paths) > 0 {
				part := in
				n := min(len(in.Paths), c3po.MaxLeaseFiles)
				part.Paths, part.Numbers = in.Paths[:n], in.Numbers[:n]
				in.Paths, in.Numbers = in.Paths[n:], in.Numbers[n:]
				some, err := checkLeases(cmd.Context(), a, part)
				if err != nil {
					fmt.Fprintf(a.Stderr, "c3po: nobody checked the leases of what you commit: %s\n", console.Inline(err.Error()))
					return nil
				}
				found.Leases = append(found.Leases, some.Leases...)
			}
			if len(found.Leases) > 0 {
				return refuseCommit(time.Now(), found.Leases)
			}
			return nil
		},
	}
}

// refuseCommit names the files that keep a commit from being made.
func refuseCommit(now time.Time, leases []c3po.Lease) error {
	var said []string
	for _, l := range leases {
		if l.Ended == nil {
			said = append(said, fmt.Sprintf("%s is being edited by %s, for %s", l.Path, l.Holder.Brief(), c3po.Age(now.Sub(l.Since))))
		} else {
			said = append(said, fmt.Sprintf("%s was edited by %s since you did", l.Path, l.Holder.Brief()))
		}
	}
	return c3po.Errorf(c3po.Forbidden, "not committed: %s", strings.Join(said, "; ")).
		Suggest("Get the other change first, then edit the file again and commit. git commit --no-verify commits all the same.")
}

// staged are the files of the next commit, with the leases that the working tree had; none
// if they are not leased.
func staged(checkout paths.Checkout) (in c3po.LeaseCheckInput, err error) {
	repository, on := checkout.Leases()
	if !on {
		return in, nil
	}
	in = c3po.LeaseCheckInput{Repository: repository, Branch: checkout.Branch(), Tree: checkout.Tree()}
	if in.Paths, err = checkout.Staged(); err != nil {
		return in, err
	}
	noted, err := checkout.NotedLeases()
	for _, path := range in.Paths {
		in.Numbers = append(in.Numbers, noted[path])
	}
	return in, err
}

// checkLeases asks as the session that commits, or as the person.
func checkLeases(ctx context.Context, a *console.Console, in c3po.LeaseCheckInput) (found c3po.LeaseConflicts, err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if socket, below := a.SessionAbove(); below {
		input, err := json.Marshal(in)
		if err != nil {
			return found, err
		}
		answer, ok := session.AskHere(ctx, socket, a.Trust(socket), hook.Event{Name: hook.Commit, Input: input})
		if !ok || json.Unmarshal([]byte(answer), &found) != nil {
			return found, c3po.Errorf(c3po.CoordDown, "the session could not ask the coordinator")
		}
		return found, nil
	}
	svc, err := a.ActingOrPerson()
	if err != nil {
		return found, err
	}
	return svc.LeaseCheck(ctx, in)
}

// preCommitHead begins our hook, and preCommitLines is how long it is.
const (
	preCommitHead  = "#!/bin/sh\n# c3po leases: made by c3po leases on --pre-commit\n"
	preCommitLines = 4
)

func preCommitFile(checkout paths.Checkout) (name string, ours, there bool, err error) {
	folder, err := checkout.HooksFolder()
	if err != nil {
		return "", false, false, err
	}
	name = filepath.Join(folder, "pre-commit")
	text, err := os.ReadFile(name) // #nosec G304 -- where git looks for it
	if errors.Is(err, os.ErrNotExist) {
		return name, false, false, nil
	}
	// What somebody has added to it is theirs.
	ours = strings.HasPrefix(string(text), preCommitHead) && strings.Count(string(text), "\n") == preCommitLines
	return name, ours, true, err
}

// installPreCommit makes the hook. One that is there already is left alone.
func installPreCommit(checkout paths.Checkout) (string, error) {
	name, ours, there, err := preCommitFile(checkout)
	if err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	line := shellQuoted(program) + " leases check"
	if there && !ours {
		return "", c3po.Errorf(c3po.InvalidRequest, "%s is there already, and not ours", name).
			Suggest("Leases are on. Add this line to it: %s || exit 1", line)
	}
	shared, err := checkout.SharesHooks()
	if err != nil {
		return "", err
	}
	if shared {
		return "", c3po.Errorf(c3po.InvalidRequest, "git looks for hooks in %s, which is not this repository's alone", filepath.Dir(name)).
			Suggest("Leases are on. Add this line to the pre-commit hook that you have there: %s || exit 1", line)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return "", err
	}
	// A program that has moved since holds up no commit.
	text := preCommitHead + "[ -x " + shellQuoted(program) + " ] || { echo 'c3po: nobody checked the leases of what you commit: the program is gone' >&2; exit 0; }\nexec " + line + "\n"
	return name, os.WriteFile(name, []byte(text), 0o755) // #nosec G306 -- git runs it
}

func removePreCommit(checkout paths.Checkout) error {
	name, ours, _, err := preCommitFile(checkout)
	if err != nil || !ours {
		return err
	}
	if shared, err := checkout.SharesHooks(); err != nil || shared {
		return err
	}
	return os.Remove(name)
}

// shellQuoted is a word as sh takes it.
func shellQuoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
