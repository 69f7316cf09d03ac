package paths

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A HookRun says when a hook of a coding agent was last answered on this host.
type HookRun struct {
	Event string        `json:"event"`
	Agent c3po.AgentID  `json:"agent"`
	At    time.Time     `json:"at"`
	Took  time.Duration `json:"took_ns"`
}

const hooksFolder = "hooks"

// clientForm keeps what a program calls itself from being another path.
var clientForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// NoteHookRun keeps the last run of a client's hooks.
func (f Folders) NoteHookRun(client string, run HookRun) error {
	if !clientForm.MatchString(client) {
		return nil
	}
	dir, err := f.within(hooksFolder)
	if err != nil {
		return err
	}
	data, err := json.Marshal(run)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, client+".json"), append(data, '\n'))
}

// ForgetHookRun is for a client whose hooks are taken out.
func (f Folders) ForgetHookRun(client string) error {
	dir, err := f.StateFile(hooksFolder)
	if err != nil || !clientForm.MatchString(client) {
		return err
	}
	if err := os.Remove(filepath.Join(dir, client+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(dir) // if it is empty
	return nil
}

// HookRun is the last run of a client's hooks; nil if none is known.
func (f Folders) HookRun(client string) *HookRun {
	state, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil || !clientForm.MatchString(client) {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(state, hooksFolder, client+".json"))
	run := &HookRun{}
	if err != nil || json.Unmarshal(data, run) != nil {
		return nil
	}
	return run
}
