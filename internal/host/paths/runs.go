package paths

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
)

// A Run is a process on this host that a coordinator takes for an agent's, until it
// is told that it has ended.
type Run struct {
	Run   string       `json:"run"`
	Agent c3po.AgentID `json:"agent"`
}

const (
	runsFolder = "runs"
	maxRuns    = 1024 // of one user on one host
)

// NoteRun keeps a run for whoever comes after it.
func (f Folders) NoteRun(run Run) error {
	dir, err := f.within(runsFolder)
	if err != nil {
		return err
	}
	if kept, err := os.ReadDir(dir); err != nil || len(kept) >= maxRuns {
		return err
	}
	data, err := json.Marshal(run)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, noteOf(run.Run)), append(data, '\n'))
}

// Runs are those that were noted and not forgotten.
func (f Folders) Runs() []Run {
	dir, err := f.StateFile(runsFolder)
	if err != nil {
		return nil
	}
	names, _ := os.ReadDir(dir) // there is none before the first run
	var all []Run
	for _, name := range names {
		var run Run
		if data, err := os.ReadFile(filepath.Join(dir, name.Name())); err == nil && json.Unmarshal(data, &run) == nil {
			all = append(all, run)
		}
	}
	return all
}

// ForgetRun is for a run whose end the coordinator knows.
func (f Folders) ForgetRun(run string) error {
	dir, err := f.StateFile(runsFolder)
	if err == nil {
		err = os.Remove(filepath.Join(dir, noteOf(run)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ForgetRuns is for a host that has no agent any more: it removes the place of the
// notes, if there are none.
func (f Folders) ForgetRuns() error {
	dir, err := f.StateFile(runsFolder)
	if err != nil {
		return err
	}
	return os.Remove(dir)
}

// noteOf is the file about a run or a session. Its name keeps what that is called from
// being another path.
func noteOf(called string) string {
	sum := sha256.Sum256([]byte(called))
	return hex.EncodeToString(sum[:16]) + ".json"
}
