package runner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/c3po-dev/c3po/internal/agentfile"
)

// mostEntries of a folder are compared; more would be work for a disk every two
// seconds.
const mostEntries = 10_000

// fileWatch fires when a file, or an entry of a folder, is made, changed or
// removed. What the agent itself has changed while it ran starts it not again.
func fileWatch(t agentfile.Trigger) watch {
	return func(ctx context.Context) (firing, bool) {
		was := fingerprint(t.Path)
		for sleep(ctx, lookEvery) {
			if fingerprint(t.Path) != was {
				return firing{why: "file"}, true
			}
		}
		return firing{}, false
	}
}

func fingerprint(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	note := func(info os.FileInfo) {
		fmt.Fprintf(sum, "%s %d %d %s\n", info.Name(), info.Size(), info.ModTime().UnixNano(), info.Mode())
	}
	note(info)
	if info.IsDir() {
		entries, _ := os.ReadDir(path)
		for _, entry := range entries[:min(len(entries), mostEntries)] {
			if info, err := entry.Info(); err == nil {
				note(info)
			}
		}
	}
	return string(sum.Sum(nil))
}
