package paths

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Off says whether a person has switched c3po off, everywhere or for the project
// in this folder. It only looks at two files, so that it can be asked before
// everything that is said to an agent.
func (f Folders) Off(project string) bool {
	state, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return false
	}
	for _, name := range []string{everywhere, projectName(project)} {
		if _, err := os.Stat(filepath.Join(state, offFolder, name)); err == nil {
			return true
		}
	}
	return false
}

// SwitchOff leaves the mark that Off looks for; without a project, for all.
func (f Folders) SwitchOff(project string) error {
	state, err := f.State()
	if err != nil {
		return err
	}
	dir, err := private(filepath.Join(state, offFolder))
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, markName(project)), nil)
}

// SwitchOn takes that mark away.
func (f Folders) SwitchOn(project string) error {
	state, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(state, offFolder, markName(project)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const (
	offFolder  = "off"
	everywhere = "all"
)

func markName(project string) string {
	if project == "" {
		return everywhere
	}
	return projectName(project)
}

// projectName is the same for a folder whichever way it was reached.
func projectName(project string) string {
	if resolved, err := filepath.EvalSymlinks(project); err == nil {
		project = resolved
	}
	sum := sha256.Sum256([]byte(filepath.Clean(project)))
	return hex.EncodeToString(sum[:])
}
