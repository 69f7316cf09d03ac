package runner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/client/attempt"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// maxEntries of a folder are compared; more would be work for a disk every two
// seconds.
const maxEntries = 10_000

// fileWatch fires when a file, or an entry of a folder, is made, changed or
// removed. What the agent itself has changed while it ran starts it not again.
func fileWatch(t agentfile.Trigger, workspace string) watch {
	return func(ctx context.Context) (firing, bool) {
		was := fingerprint(t.Path, workspace)
		for attempt.Sleep(ctx, lookEvery) {
			if fingerprint(t.Path, workspace) != was {
				return firing{why: "file"}, true
			}
		}
		return firing{}, false
	}
}

// fingerprint differs when what is at a path does. Within the workspace no link
// is followed out of it: the agent would choose what is looked at.
func fingerprint(path, workspace string) string {
	at, name := os.DirFS(filepath.Dir(path)), filepath.Base(path)
	if way, err := filepath.Rel(workspace, path); err == nil && filepath.IsLocal(way) {
		root, err := os.OpenRoot(workspace)
		if err != nil {
			return ""
		}
		defer root.Close()
		at, name = root.FS(), filepath.ToSlash(way)
	}
	info, err := fs.Stat(at, name)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	note := func(info fs.FileInfo) {
		fmt.Fprintf(sum, "%s %d %d %s\n", info.Name(), info.Size(), info.ModTime().UnixNano(), info.Mode())
	}
	note(info)
	if info.IsDir() {
		for _, entry := range someEntries(at, name) {
			if info, err := entry.Info(); err == nil {
				note(info)
			}
		}
	}
	return string(sum.Sum(nil))
}

// someEntries are those of a folder, in order; of a very large one only as many
// as are compared.
func someEntries(at fs.FS, name string) []fs.DirEntry {
	file, err := at.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	folder, ok := file.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	entries, _ := folder.ReadDir(maxEntries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}
