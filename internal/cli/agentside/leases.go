package agentside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// maxSaidLeases is how many files a refused commit names.
const maxSaidLeases = 10

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
	cmd.AddCommand(leasesOn(a), leasesOff(a), leasesRelease(a), leasesAccept(a), leasesCheck(a))
	return cmd
}

// printLeases prints who edits which files.
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
	text := fmt.Sprintf("%s  %s  %s, for %s", console.Inline(l.Repository), console.Inline(l.Path), console.Inline(string(l.Holder)), c3po.Age(now.Sub(l.Since)))
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
	PreCommit  string `json:"pre_commit,omitempty"` // the file of the hook; the one before a merge is beside it
}

func leasesOn(a *console.Console) *cobra.Command {
	var preCommit bool
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Lease the files of this repository",
		Long: `Lease the files of the current folder's repository, in all its working trees. Nothing
is committed: .git/config says so. Each clone is switched on by itself, and clones of one
repository share their leases. Leases in different branches do not meet.

With --pre-commit, git also refuses to commit or merge a file that another session has leased since.`,
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
			if err := a.Folders.DecideLeases(checkout.Top, true); err != nil {
				return err
			}
			if preCommit {
				if done.PreCommit, err = installGitHooks(checkout); err != nil {
					return err
				}
			}
			return a.Show(done, func(w io.Writer) {
				fmt.Fprintf(w, "leases are on in %s (repository %s)\n", console.Inline(done.Folder), done.Repository)
				if done.PreCommit != "" {
					fmt.Fprintf(w, "git checks them before a commit and a merge: %s\n", console.Inline(done.PreCommit))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&preCommit, "pre-commit", false, "have git refuse to commit a file that another session has leased since")
	return console.WithoutSettings(cmd)
}

func leasesOff(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "off",
		Short: "Lease the files of this repository no longer",
		Long: `Lease the files of the current folder's repository no longer, and remove the hooks that
--pre-commit has made. A session ends the leases it has there at its next step; c3po
leases release ends one at once.`,
		Example: `  c3po leases off`,
		RunE: func(*cobra.Command, []string) error {
			checkout, err := checkoutHere()
			if err != nil {
				return err
			}
			if err := endLeases(checkout); err != nil {
				return err
			}
			if err := a.Folders.DecideLeases(checkout.Top, false); err != nil {
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
		return checkout, paths.WhyNoCheckout(dir)
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
			if errors.Is(err, exec.ErrNotFound) {
				unchecked(a, err)
				return nil
			}
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
					unchecked(a, err)
					return nil
				}
				found.Leases = append(found.Leases, some.Leases...)
			}
			if len(found.Leases) > 0 {
				return refuseCommit(time.Now(), checkout.Tree(), found.Leases)
			}
			return nil
		},
	}
}

// unchecked says why a commit goes on without a check.
func unchecked(a *console.Console, err error) {
	fmt.Fprintf(a.Stderr, "c3po: nobody checked the leases of what you commit: %s\n", console.Inline(err.Error()))
}

// refuseCommit names the files that keep a commit from being made, and what to do.
func refuseCommit(now time.Time, tree string, leases []c3po.Lease) error {
	var said, moved []string
	var held []c3po.Lease
	elsewhere := false
	for _, l := range leases {
		if l.Ended == nil {
			held = append(held, l)
			said = append(said, fmt.Sprintf("%s is being edited by %s, for %s", console.Inline(l.Path), l.Holder.Brief(), c3po.Age(now.Sub(l.Since))))
			continue
		}
		moved = append(moved, shellQuoted(l.Path))
		elsewhere = elsewhere || l.Tree != tree
		said = append(said, fmt.Sprintf("%s was edited by %s since you did", console.Inline(l.Path), l.Holder.Brief()))
	}
	if more := len(said) - maxSaidLeases; more > 0 {
		said = append(said[:maxSaidLeases], fmt.Sprintf("and %d more", more))
	}
	var steps []string
	if len(held) > 0 {
		steps = append(steps, fmt.Sprintf("wait until %s commits, or end its lease with c3po leases release %d", held[0].Holder.Brief(), held[0].Number))
	}
	if elsewhere {
		steps = append(steps, "git pull --rebase --autostash")
	}
	if len(moved) > 0 {
		steps = append(steps, "look whether both changes are in the files", "c3po leases accept "+strings.Join(moved[:min(len(moved), 20)], " "))
	}
	return c3po.Errorf(c3po.Forbidden, "not committed: %s", strings.Join(said, "; ")).
		Suggest("In this order: %s; then stage and commit again. git commit --no-verify commits all the same.", strings.Join(steps, "; "))
}

func leasesAccept(a *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "accept FILE...",
		Short: "Say that your files have what another session changed",
		Long: `Say that files of this working tree have what another session has changed in them since
you edited them. Pull and look at them first. A commit of them is no longer refused for
that change. A file that another session still edits is refused.`,
		Example: `  c3po leases accept src/api.go`,
		Args:    console.Arguments(1, c3po.MaxLeaseFiles, "FILE..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			checkout, err := checkoutHere()
			if err != nil {
				return err
			}
			repository, on := checkout.Leases()
			if !on {
				return c3po.Errorf(c3po.InvalidRequest, "leases are off in %s", checkout.Top).Suggest("c3po leases on switches them on.")
			}
			in := c3po.LeaseCheckInput{Repository: repository, Branch: checkout.Branch(), Tree: checkout.Tree()}
			for _, file := range args {
				full, err := filepath.Abs(file)
				if err != nil {
					return err
				}
				of, within, ok := paths.FindCheckout(full)
				if !ok || of.Top != checkout.Top {
					return c3po.Errorf(c3po.InvalidRequest, "%s is not in %s", file, checkout.Top).Suggest("Name files of this working tree.")
				}
				is, err := os.Lstat(full)
				if err == nil && is.IsDir() {
					return console.BadUsage(file+" is a folder, not a file", "Name the files that you have looked at.")
				}
				if err != nil && !checkout.Tracks(within) { // one that you have deleted is tracked still
					return console.BadUsage("there is no file "+file, "Check the path.")
				}
				in.Paths, in.Numbers = append(in.Paths, within), append(in.Numbers, 1) // older than any lease
			}
			found, err := checkLeases(cmd.Context(), a, in)
			if err != nil {
				return err
			}
			done := leasesAccepted{Accepted: in.Paths}
			var files []string
			var numbers []int64
			for _, l := range found.Leases {
				if l.Ended == nil && l.Tree != in.Tree { // what is edited here is in the file
					return c3po.Errorf(c3po.Forbidden, "%s is still being edited by %s", l.Path, l.Holder.Brief()).
						Suggest("Wait until it commits, or end its lease with c3po leases release %d.", l.Number)
				}
				files, numbers = append(files, l.Path), append(numbers, l.Number)
			}
			if len(files) > 0 {
				if err := checkout.NoteLeases(files, numbers); err != nil {
					return err
				}
			}
			return a.Show(done, func(w io.Writer) { fmt.Fprintf(w, "accepted: %s\n", console.Inline(strings.Join(done.Accepted, ", "))) })
		},
	}
}

// leasesAccepted is what accept prints as JSON.
type leasesAccepted struct {
	Accepted []string `json:"accepted"`
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
