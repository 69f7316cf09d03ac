package agentside

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/clients"
)

func (i *ClaudeInstaller) Uninstall(ctx context.Context, out io.Writer) error {
	i.out = out
	footprint, known, err := clients.ReadFootprint(i.footprintFile())
	if err != nil {
		return err
	}
	if !i.dryRun {
		defer i.removeEmpty()
	}
	untouched := footprint.Untouched()
	taken, err := i.takeOut(ctx)
	if err != nil {
		return err
	}
	cache := ClaudeFolder(i.console, "plugins", "cache", marketplace)
	data := ClaudeFolder(i.console, "plugins", "data", strings.ReplaceAll(PluginID, "@", "-")) // which Claude Code makes for each plugin
	if !taken && !known && !slices.ContainsFunc([]string{i.Folder, cache, data}, IsThere) {
		fmt.Fprintln(out, "Claude Code has nothing of c3po")
		return nil
	}
	if err := i.step("remove "+i.Folder+" and "+cache, func() error {
		return errors.Join(os.RemoveAll(i.Folder), os.RemoveAll(cache), os.RemoveAll(data), i.console.Folders.ForgetHookRun(ClaudeType), i.console.Folders.ForgetSessions(ClaudeType))
	}); err != nil || !known {
		return err
	}
	return i.step("make the files of Claude Code what they were", func() error {
		err := footprint.Restore(untouched, func(path string, before, now []byte) []byte {
			if path != ClaudeFolder(i.console, "settings.json") {
				return now
			}
			return clients.WithoutEmpty(before, now, "enabledPlugins", "extraKnownMarketplaces")
		})
		if err == nil {
			err = os.Remove(i.footprintFile())
		}
		footprint.RemoveFolders()
		return err
	})
}

// removeEmpty removes our own folders, and those above, that hold nothing. They are
// made whenever somebody asks where they are.
func (i *ClaudeInstaller) removeEmpty() {
	ours := []string{filepath.Dir(i.Folder)}
	if state, err := i.console.Folders.State(); err == nil {
		_ = i.console.Folders.ForgetRuns()
		ours = append(ours, state)
	}
	for _, folder := range ours {
		for range 3 { // as in ~/.local/share/c3po
			if os.Remove(folder) != nil {
				break
			}
			folder = filepath.Dir(folder)
		}
	}
}

func IsThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// takeOut lets Claude Code take out what c3po put there, and says whether it had any.
func (i *ClaudeInstaller) takeOut(ctx context.Context) (taken bool, err error) {
	for _, part := range []struct {
		list  []string
		file  string // in which Claude Code keeps the list
		sign  string // that it is there
		taken []string
	}{
		{[]string{"plugin", "list", "--json"}, "installed_plugins.json", `"` + PluginID + `"`, []string{"plugin", "uninstall", PluginID}},
		{[]string{"plugin", "marketplace", "list", "--json"}, "known_marketplaces.json", `"` + marketplace + `"`, []string{"plugin", "marketplace", "remove", marketplace}},
	} {
		if _, err := os.Stat(ClaudeFolder(i.console, "plugins", part.file)); errors.Is(err, fs.ErrNotExist) {
			continue // asking would make files where Claude Code was never used
		}
		out, err := i.output(ctx, part.list...)
		if err != nil {
			return taken, err
		}
		if !bytes.Contains(out, []byte(part.sign)) {
			continue
		}
		if err := i.step("claude "+strings.Join(part.taken, " "), func() error { return i.run(ctx, part.taken...) }); err != nil {
			return taken, err
		}
		taken = true
	}
	return taken, nil
}

// footprintFile is where it is kept how the files of Claude Code were.
func (i *ClaudeInstaller) footprintFile() string { return i.Folder + "-before.json" }

// footprint is how the files were that installing changes; of an installation that
// is repeated, before the first.
func (i *ClaudeInstaller) footprint() (clients.Footprint, error) {
	if f, known, err := clients.ReadFootprint(i.footprintFile()); known || err != nil {
		return f.Again(), err
	}
	at := func(path ...string) string { return ClaudeFolder(i.console, path...) }
	files := []string{at("settings.json"), at("plugins", "installed_plugins.json"), at("plugins", "known_marketplaces.json")}
	if _, err := os.Stat(claudeState(i.console)); errors.Is(err, fs.ErrNotExist) {
		files = append(files, claudeState(i.console)) // which Claude Code makes whatever it is asked to do
	}
	folders := []string{at(), at("backups"), at("plugins"), at("plugins", "cache"), at("plugins", "data"), at("plugins", "marketplaces")}
	f, err := clients.TakeFootprint(files, folders)
	if _, older := os.Stat(i.Folder); older == nil {
		f = f.Again() // of an installation that kept none: the files have ours in them
	}
	return f, err
}

// ClaudeFolder is where Claude Code keeps its files, or one of them.
func ClaudeFolder(a *console.Console, path ...string) string {
	folder := a.Getenv("CLAUDE_CONFIG_DIR")
	if folder == "" {
		folder = filepath.Join(a.Home(), ".claude")
	}
	return filepath.Join(append([]string{folder}, path...)...)
}

// claudeState is the file in which Claude Code keeps what it knows of its user.
func claudeState(a *console.Console) string {
	if folder := a.Getenv("CLAUDE_CONFIG_DIR"); folder != "" {
		return filepath.Join(folder, ".claude.json")
	}
	return filepath.Join(a.Home(), ".claude.json")
}
