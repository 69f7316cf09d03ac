package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/release"
)

// A removal is what uninstall takes away from this host, and keeps.
type removal struct {
	console  *console.Console
	clients  []agentside.Target
	service  string   // the file that makes the coordinator one; empty if it is none
	running  string   // where a coordinator runs here
	hasState bool     // so that one may have run, and its Redis with it
	leased   []string // working trees with leases
	folders  []folder // with everything c3po has stored
	keepData bool
	program  string // that is removed too; empty if something else keeps it
	leftOver string // the command that removes the program, if it stays
	joined   string // the coordinator on another host that has tokens for this one
}

// A folder is one of c3po's, and how much is in it.
type folder struct {
	path  string
	bytes int64
}

// planRemoval looks at what there is. It changes nothing.
func planRemoval(ctx context.Context, a *console.Console, keepData bool) (removal, error) {
	r := removal{console: a, keepData: keepData}
	there := a.Folders.Existing()
	for _, t := range agentside.TargetsHere(a) {
		if has(a, t) {
			r.clients = append(r.clients, t)
		}
	}
	for _, path := range a.Folders.Existing() {
		if !slices.Contains(there, path) {
			_ = os.Remove(path) // that was made by looking, and is empty
		}
	}
	if m, known := serviceManager(a, runtime.GOOS); known && m.isInstalled() {
		r.service = m.file
	}
	var err error
	if r.leased, err = agentside.LeasedTrees(a); err != nil {
		return r, err
	}
	state, err := a.Folders.StateFile("")
	if err != nil {
		return r, err
	}
	// A note that cannot be read is no reason to keep it: whether one runs, its lock says.
	if note, err := running(ctx, a, state); err == nil && note != nil {
		r.running = note.URL
	}
	config, err := a.Folders.ConfigFile("")
	if err != nil {
		return r, err
	}
	if info, err := os.Stat(state); err == nil {
		r.hasState = info.IsDir()
	}
	for _, path := range append(there, config) {
		if _, err := os.Stat(path); err == nil {
			r.folders = append(r.folders, folder{filepath.Clean(path), sizeOf(path)})
		}
	}
	if agents, person, err := a.Elsewhere(); err == nil {
		r.joined = cmp.Or(agents, person)
	}
	r.program, r.leftOver = planProgram(a)
	return r, nil
}

// planProgram is the program if it is ours to remove: the install script has put it
// there. Else it is the command that removes it.
func planProgram(a *console.Console) (ours, command string) {
	program := ownProgram()
	switch kind := origin(a).Kind; {
	case kind == "deb":
		return "", "sudo apt remove c3po"
	case kind == "rpm":
		return "", "sudo dnf remove c3po"
	case kind == "brew":
		return "", "brew uninstall c3po"
	case kind == release.Script && release.Known(a.Version) && program != "":
		return program, ""
	default:
		return "", "rm " + program
	}
}

// sizeOf is how much is in a folder; what cannot be read counts nothing.
func sizeOf(path string) int64 {
	var sum int64
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

func (r removal) print(w io.Writer) {
	for _, t := range r.clients {
		fmt.Fprintf(w, "  c3po in %s\n", t.Title)
	}
	if r.running != "" {
		fmt.Fprintf(w, "  the coordinator at %s, which runs now\n", console.Inline(r.running))
	}
	if r.service != "" {
		fmt.Fprintf(w, "  the service %s\n", console.Inline(r.service))
	}
	for _, tree := range r.leased {
		fmt.Fprintf(w, "  leases in %s: its git hooks, and c3po.leases in .git/config\n", console.Inline(tree))
	}
	for _, f := range r.folders {
		if !r.keepData {
			fmt.Fprintf(w, "  %s (%s)\n", console.Inline(f.path), sizeInWords(f.bytes))
		}
	}
	if r.program != "" {
		fmt.Fprintf(w, "  %s\n", console.Inline(r.program))
	}
}

// isEmpty says that there is nothing to remove.
func (r removal) isEmpty() bool {
	return len(r.clients) == 0 && r.running == "" && r.service == "" && len(r.leased) == 0 && (r.keepData || len(r.folders) == 0) && r.program == ""
}

func sizeInWords(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%d KB", bytes>>10)
	default:
		return fmt.Sprintf("%d MB", bytes>>20)
	}
}

// uninstallAll removes c3po from this host, after showing what that is and asking.
func uninstallAll(ctx context.Context, a *console.Console, yes, dryRun, keepData bool) error {
	plan, err := planRemoval(ctx, a, keepData)
	if err != nil {
		return err
	}
	if plan.isEmpty() {
		return a.Show(map[string][]string{"steps": {}}, func(w io.Writer) {
			fmt.Fprintf(w, "nothing of c3po is here but the program; remove it with: %s\n", console.Inline(plan.leftOver))
		})
	}
	if dryRun || a.AtTerminal() {
		fmt.Fprintln(a.Stdout, "This removes from this host:")
		plan.print(a.Stdout)
	}
	switch {
	case dryRun:
		return nil
	case yes:
	case !a.AtTerminal():
		return c3po.Errorf(c3po.InvalidRequest, "this removes everything of c3po from this host, and nobody is at a terminal to be asked").
			Suggest("See what it removes with: c3po uninstall --dry-run. Then: c3po uninstall --yes. One coding agent alone: c3po uninstall claude")
	default:
		if !keepData && len(plan.folders) > 0 {
			fmt.Fprintln(a.Stdout, "Mail, tokens and settings are gone for good; --keep-data keeps them.")
		}
		if sure, err := a.Confirm("Remove all of it?", false); err != nil || !sure {
			return errors.Join(err, c3po.Errorf(c3po.InvalidRequest, "nothing was removed").Suggest("Keep a copy of the mail with: c3po backup FILE"))
		}
	}
	return a.Narrate(func(out io.Writer) error { return plan.carryOut(ctx, out) })
}

// carryOut removes the plugins first: they need what is in the folders.
func (r removal) carryOut(ctx context.Context, out io.Writer) error {
	for _, t := range r.clients {
		fmt.Fprintf(out, "%s:\n", t.Title)
		i, err := t.Installer(agentside.InstallFlags{})
		if err == nil {
			err = i.Uninstall(ctx, out)
		}
		if err != nil {
			return err
		}
	}
	for _, tree := range r.leased {
		if err := agentside.EndLeases(tree); err != nil {
			return err
		}
		fmt.Fprintf(out, "leases are off in %s\n", console.Inline(tree))
	}
	if r.hasState || r.service != "" {
		if err := r.unlock(); err != nil {
			return err
		}
		done, err := stopAll(ctx, r.console, true)
		if err != nil {
			return err
		}
		if r.keepData {
			done.print(out)
		} else if done.Coordinator || done.Redis {
			fmt.Fprintln(out, "stopped c3po and its Redis")
		}
		if !r.keepData && done.Removed {
			fmt.Fprintf(out, "removed %s\n", console.Inline(done.Service))
		}
	}
	for _, f := range r.folders {
		if r.keepData {
			fmt.Fprintf(out, "kept %s\n", console.Inline(f.path))
			continue
		}
		if !agentside.IsThere(f.path) {
			continue
		}
		if err := os.RemoveAll(f.path); err != nil {
			return c3po.Errorf(c3po.Forbidden, "cannot remove %s: %w", f.path, err).Suggest("Remove it as the user who owns it.")
		}
		fmt.Fprintf(out, "removed %s\n", console.Inline(f.path))
	}
	if r.joined != "" && !r.keepData {
		fmt.Fprintf(out, "this host has left %s; revoke its tokens there: c3po token list\n", console.Inline(r.joined))
	}
	if r.program != "" {
		if err := os.Remove(r.program); err == nil {
			fmt.Fprintf(out, "removed %s\n", console.Inline(r.program))
			return nil
		}
		r.leftOver = "sudo rm " + r.program
	}
	fmt.Fprintf(out, "the program stays; remove it with: %s\n", console.Inline(r.leftOver))
	return nil
}

// unlock removes what nobody can hold as the coordinator's lock: a folder of its name.
func (r removal) unlock() error {
	state, err := r.console.Folders.StateFile("")
	if err != nil {
		return err
	}
	if info, err := os.Lstat(lockName(state)); err != nil || !info.IsDir() {
		return nil
	}
	return os.RemoveAll(lockName(state))
}

func Uninstall(a *console.Console) *cobra.Command {
	var all, yes, keepData bool
	var flags agentside.InstallFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take c3po out of a coding agent, or off this host",
		Long: `Take c3po out of a coding agent, or with --all out of each that is in the PATH.
--dry-run shows what would be changed, line by line.

Without a name it removes everything of c3po from this host, after showing what that is
and asking: from the coding agents, the service, the coordinator and its Redis, leases
and their git hooks in repositories, and the folders with mail, tokens and settings,
which --keep-data keeps. The program goes too if the install script has put it there.`,
		Example: `  c3po uninstall claude
  c3po uninstall --all --dry-run`,
		Args: agentside.UnknownTarget,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !all {
				return uninstallAll(cmd.Context(), a, yes, flags.DryRun, keepData)
			}
			return a.Narrate(func(out io.Writer) error {
				return agentside.Everywhere(cmd.Context(), a, out, flags, agentside.Installer.Uninstall)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "take it out of each coding agent of this host")
	cmd.Flags().BoolVar(&flags.DryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove everything without asking")
	cmd.Flags().BoolVar(&keepData, "keep-data", false, "keep mail, tokens and settings")
	for _, t := range agentside.Targets(a) {
		long := "Take everything back that c3po install " + t.Name + ` has made. A file that nobody has changed
since becomes what it was, byte for byte; from one that was changed only what is of
c3po is taken out.`
		cmd.AddCommand(agentside.TargetCommand(a, t, "uninstall", "Take c3po out of "+t.Title, long, agentside.Installer.Uninstall))
	}
	cmd.AddCommand(agentside.UninstallBridge(a))
	return console.WithoutSettings(cmd)
}
