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
func (f Folders) Off(project string) bool { return f.marked(offFolder, project) }

// ApprovalsOff says whether a person wants to decide dialogs at the terminal only.
func (f Folders) ApprovalsOff(project string) bool { return f.marked(approvalsFolder, project) }

func (f Folders) marked(folder, project string) bool {
	state, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return false
	}
	for _, name := range []string{everywhere, projectName(project)} {
		if _, err := os.Stat(filepath.Join(state, folder, name)); err == nil {
			return true
		}
	}
	return false
}

// SwitchOff leaves the mark that Off looks for; without a project, for all.
func (f Folders) SwitchOff(project string) error { return f.mark(offFolder, project) }

// SwitchApprovalsOff leaves the mark that ApprovalsOff looks for; without a project, for all.
func (f Folders) SwitchApprovalsOff(project string) error { return f.mark(approvalsFolder, project) }

func (f Folders) mark(folder, project string) error {
	dir, err := f.within(folder)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, markName(project)), nil)
}

// SwitchOn takes that mark away.
func (f Folders) SwitchOn(project string) error { return f.unmark(offFolder, project) }

// SwitchApprovalsOn takes that mark away.
func (f Folders) SwitchApprovalsOn(project string) error { return f.unmark(approvalsFolder, project) }

func (f Folders) unmark(folder, project string) error {
	state, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(state, folder, markName(project)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const (
	offFolder       = "off"
	approvalsFolder = "approvals-off"
	everywhere      = "all"
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
