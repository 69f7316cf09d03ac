package paths

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Session is a coding agent's session on this host, with what it takes to resume it once
// it is closed. There is no secret in it.
type Session struct {
	Client string       `json:"client"`
	ID     string       `json:"id"` // as its client calls it
	Agent  c3po.AgentID `json:"agent,omitempty"`
	Folder string       `json:"folder"`
	Model  string       `json:"model,omitempty"`
	Mode   string       `json:"mode,omitempty"` // of permissions, as the person last had it
	// What the client was started with, empty if it was not set.
	URL    string `json:"url,omitempty"`
	Space  string `json:"space,omitempty"`
	As     string `json:"as,omitempty"`
	Config string `json:"config,omitempty"` // the client's own folder
	Run    string `json:"run"`              // the process that last had it
	// Resumed says that c3po attend has started that process.
	Resumed bool      `json:"resumed,omitempty"`
	Said    bool      `json:"said"` // something was said in it, so that there is something to resume
	At      time.Time `json:"at"`
}

const (
	sessionsFolder = "sessions"
	maxSessions    = 256 // of one user on one host
)

// KeepSession keeps a session, and forgets the oldest of too many.
func (f Folders) KeepSession(s Session) error {
	if !s.nameable() {
		return fmt.Errorf("a session %.80q with the model %.80q cannot be resumed", s.ID, s.Model)
	}
	dir, err := f.within(sessionsFolder)
	if err != nil {
		return err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := WriteFile(filepath.Join(dir, noteOf(s.ID)), append(data, '\n')); err != nil {
		return err
	}
	if all := f.Sessions(); len(all) > maxSessions {
		return f.ForgetSession(all[0].ID)
	}
	return nil
}

// Sessions are those that are kept, the oldest first.
func (f Folders) Sessions() []Session {
	dir, err := f.StateFile(sessionsFolder)
	if err != nil {
		return nil
	}
	names, _ := os.ReadDir(dir) // there is none before the first session
	var all []Session
	for _, name := range names {
		if s, ok := readSession(filepath.Join(dir, name.Name())); ok {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Session) int { return a.At.Compare(b.At) })
	return all
}

// Session is the one that its client calls by that id.
func (f Folders) Session(id string) (Session, bool) {
	dir, err := f.StateFile(sessionsFolder)
	if err != nil {
		return Session{}, false
	}
	return readSession(filepath.Join(dir, noteOf(id)))
}

// ForgetSession is for a session that is not to be resumed.
func (f Folders) ForgetSession(id string) error {
	dir, err := f.StateFile(sessionsFolder)
	if err == nil {
		err = os.Remove(filepath.Join(dir, noteOf(id)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ForgetSessions is for a client that c3po is taken out of: without it none of its sessions
// answers mail.
func (f Folders) ForgetSessions(client string) error {
	for _, s := range f.Sessions() {
		if s.Client != client {
			continue
		}
		if err := f.ForgetSession(s.ID); err != nil {
			return err
		}
	}
	dir, err := f.StateFile(sessionsFolder)
	if err == nil {
		_ = os.Remove(dir) // if it is empty
	}
	return err
}

// Both stand in the command line that resumes the session, and come from an agent's hooks:
// neither may be an option there.
var (
	sessionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)
	modelForm   = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127})?$`)
)

func (s Session) nameable() bool {
	return sessionForm.MatchString(s.ID) && modelForm.MatchString(s.Model)
}

func readSession(name string) (Session, bool) {
	var s Session
	data, err := os.ReadFile(name)
	ok := err == nil && json.Unmarshal(data, &s) == nil && s.nameable()
	return s, ok
}
