package cli

import (
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

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/host/release"
)

// A removal is what uninstall takes away from this host, and keeps.
type removal struct {
	app      *app
	clients  []target
	service  string   // the file that makes the coordinator one; empty if it is none
	running  string   // where a coordinator runs here
	hasState bool     // so that one may have run, and its Redis with it
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
func (a *app) planRemoval(ctx context.Context, keepData bool) (removal, error) {
	r := removal{app: a, keepData: keepData}
	there := a.folders.Existing()
	for _, t := range a.targetsHere() {
		if a.has(t) {
			r.clients = append(r.clients, t)
		}
	}
	for _, path := range a.folders.Existing() {
		if !slices.Contains(there, path) {
			_ = os.Remove(path) // that was made by looking, and is empty
		}
	}
	if m, known := a.serviceManager(runtime.GOOS); known && m.isInstalled() {
		r.service = m.file
	}
	state, err := a.folders.StateFile("")
	if err != nil {
		return r, err
	}
	if note, err := a.running(ctx, state); err != nil {
		return r, err
	} else if note != nil {
		r.running = note.URL
	}
	config, err := a.folders.ConfigFile("")
	if err != nil {
		return r, err
	}
	r.hasState = isThere(state)
	for _, path := range append(there, config) {
		if _, err := os.Stat(path); err == nil {
			r.folders = append(r.folders, folder{filepath.Clean(path), sizeOf(path)})
		}
	}
	if mine, err := a.folders.Credentials(); err == nil && mine != nil && !isLocal(mine.URL) {
		r.joined = mine.URL
	}
	r.program, r.leftOver = a.planProgram()
	return r, nil
}

// planProgram is the program if it is ours to remove: the install script has put it
// there. Else it is the command that removes it.
func (a *app) planProgram() (ours, command string) {
	program := ownProgram()
	switch kind := a.origin().Kind; {
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
		fmt.Fprintf(w, "  c3po in %s\n", t.title)
	}
	if r.running != "" {
		fmt.Fprintf(w, "  the coordinator at %s, which is stopped\n", inline(r.running))
	}
	if r.service != "" {
		fmt.Fprintf(w, "  the service %s\n", inline(r.service))
	}
	for _, f := range r.folders {
		if !r.keepData {
			fmt.Fprintf(w, "  %s (%s)\n", inline(f.path), sizeInWords(f.bytes))
		}
	}
	if r.program != "" {
		fmt.Fprintf(w, "  %s\n", inline(r.program))
	}
}

// isEmpty says that there is nothing to remove.
func (r removal) isEmpty() bool {
	return len(r.clients) == 0 && r.running == "" && r.service == "" && (r.keepData || len(r.folders) == 0) && r.program == ""
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
func (a *app) uninstallAll(ctx context.Context, yes, dryRun, keepData bool) error {
	plan, err := a.planRemoval(ctx, keepData)
	if err != nil {
		return err
	}
	if plan.isEmpty() {
		return a.show(map[string][]string{"steps": {}}, func(w io.Writer) {
			fmt.Fprintf(w, "nothing of c3po is here but the program; remove it with: %s\n", inline(plan.leftOver))
		})
	}
	if dryRun || a.atTerminal() {
		fmt.Fprintln(a.Stdout, "This removes from this host:")
		plan.print(a.Stdout)
	}
	switch {
	case dryRun:
		return nil
	case yes:
	case !a.atTerminal():
		return c3po.Errorf(c3po.InvalidRequest, "this removes everything of c3po from this host, and nobody is at a terminal to be asked").
			Suggest("See what it removes with: c3po uninstall --dry-run. Then: c3po uninstall --yes. One coding agent alone: c3po uninstall claude")
	default:
		if !keepData && len(plan.folders) > 0 {
			fmt.Fprintln(a.Stdout, "Mail, tokens and settings are gone for good; --keep-data keeps them.")
		}
		if sure, err := a.confirm("Remove all of it?", false); err != nil || !sure {
			return errors.Join(err, c3po.Errorf(c3po.InvalidRequest, "nothing was removed").Suggest("Keep a copy of the mail with: c3po backup FILE"))
		}
	}
	return a.narrate(func(out io.Writer) error { return plan.carryOut(ctx, out) })
}

// carryOut removes the plugins first: they need what is in the folders.
func (r removal) carryOut(ctx context.Context, out io.Writer) error {
	for _, t := range r.clients {
		fmt.Fprintf(out, "%s:\n", t.title)
		i, err := t.installer(installFlags{})
		if err == nil {
			err = i.uninstall(ctx, out)
		}
		if err != nil {
			return err
		}
	}
	if r.hasState || r.service != "" {
		done, err := r.app.stopAll(ctx, true)
		if err != nil {
			return err
		}
		done.print(out)
	}
	for _, f := range r.folders {
		if r.keepData {
			fmt.Fprintf(out, "kept %s\n", inline(f.path))
			continue
		}
		if !isThere(f.path) {
			continue
		}
		if err := os.RemoveAll(f.path); err != nil {
			return c3po.Errorf(c3po.Forbidden, "cannot remove %s: %w", f.path, err).Suggest("Remove it as the user who owns it.")
		}
		fmt.Fprintf(out, "removed %s\n", inline(f.path))
	}
	if r.joined != "" && !r.keepData {
		fmt.Fprintf(out, "this host has left %s; revoke its tokens there: c3po token list\n", inline(r.joined))
	}
	if r.program != "" {
		if err := os.Remove(r.program); err == nil {
			fmt.Fprintf(out, "removed %s\n", inline(r.program))
			return nil
		}
		r.leftOver = "sudo rm " + r.program
	}
	fmt.Fprintf(out, "the program stays; remove it with: %s\n", inline(r.leftOver))
	return nil
}

func (a *app) uninstall() *cobra.Command {
	var all, yes, keepData bool
	var flags installFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take c3po out of a coding agent, or off this host",
		Long: `Take c3po out of a coding agent, or with --all out of each that is in the PATH.
--dry-run shows what would be changed, line by line.

Without a name it removes everything of c3po from this host, after showing what that is
and asking: from the coding agents, the service, the coordinator and its Redis, and the
folders with mail, tokens and settings, which --keep-data keeps. The program goes too if
the install script has put it there.`,
		Example: `  c3po uninstall claude
  c3po uninstall --all --dry-run`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !all {
				return a.uninstallAll(cmd.Context(), yes, flags.dryRun, keepData)
			}
			return a.narrate(func(out io.Writer) error { return a.everywhere(cmd.Context(), out, flags, installer.uninstall) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "take it out of each coding agent of this host")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove everything without asking")
	cmd.Flags().BoolVar(&keepData, "keep-data", false, "keep mail, tokens and settings")
	for _, t := range a.targets() {
		long := "Take everything back that c3po install " + t.name + ` has made. A file that nobody has changed
since becomes what it was, byte for byte; from one that was changed only what is of
c3po is taken out.`
		cmd.AddCommand(a.targetCommand(t, "uninstall", "Take c3po out of "+t.title, long, installer.uninstall))
	}
	cmd.AddCommand(a.uninstallBridge())
	return withoutSettings(cmd)
}
