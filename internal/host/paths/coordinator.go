package paths

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
)

// A Coordinator is the note a running coordinator leaves for the commands of
// the same user: where it is, and which processes are its own.
type Coordinator struct {
	URL         string `json:"url"`
	Socket      string `json:"socket,omitempty"` // of the coordinator, for programs of this user
	PID         int    `json:"pid"`
	Started     int64  `json:"started"` // of the process, as this machine counts
	RedisPID    int    `json:"redis_pid,omitempty"`
	RedisSocket string `json:"redis_socket,omitempty"`
	Version     string `json:"version"`
	Listen      string `json:"listen,omitempty"` // as it was asked for; empty if nobody did
}

const noteName = "coordinator.json"

// ReadCoordinator returns the note in a state folder, nil if there is none.
func ReadCoordinator(state string) (*Coordinator, error) {
	data, err := os.ReadFile(filepath.Join(state, noteName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	note := &Coordinator{}
	if err == nil {
		err = json.Unmarshal(data, note)
	}
	if err != nil {
		return nil, c3po.Errorf(c3po.Internal, "cannot read %s: %w", filepath.Join(state, noteName), err).
			Suggest("Remove the file and run `c3po up`.")
	}
	return note, nil
}

// Coordinator returns the note of this user's coordinator, nil if there is
// none. Unlike State it makes no folder: looking leaves no trace.
func (f Folders) Coordinator() (*Coordinator, error) {
	state, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return nil, err
	}
	return ReadCoordinator(state)
}

// Write leaves the note. A reader sees the old one or the new one, never half.
func (c Coordinator) Write(state string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(state, noteName), append(data, '\n'))
}

// Remove takes the note away if it is still this process's own.
func (c Coordinator) Remove(state string) error {
	note, err := ReadCoordinator(state)
	if err != nil || note == nil || note.PID != c.PID || note.Started != c.Started {
		return err
	}
	return os.Remove(filepath.Join(state, noteName))
}

// WriteFile replaces a file in one step, readable by its owner alone.
func WriteFile(name string, data []byte) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	if _, err := temporary.Write(data); err != nil {
		return errors.Join(err, temporary.Close())
	}
	if err := errors.Join(temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
