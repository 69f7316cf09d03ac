package paths

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Consent is a person's word that mail may resume an agent's closed session, and with
// which rights.
type Consent struct {
	Mode   string `json:"mode"`   // of permissions, as its client calls it
	Starts int    `json:"starts"` // in an hour, at the most
	// Denied says that mail does not resume the agent, whatever is allowed for Everyone.
	Denied bool      `json:"denied,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// Everyone stands for each agent that is not named.
const Everyone = "*"

// Consents are by the name of an agent, or Everyone.
type Consents map[string]Consent

// For is the consent for an agent. Its whole id counts before its bare name.
func (c Consents) For(id c3po.AgentID) (Consent, bool) {
	for _, name := range []string{string(id), id.Name(), Everyone} {
		if consent, ok := c[name]; ok {
			return consent, !consent.Denied
		}
	}
	return Consent{}, false
}

const (
	consentsFile = "consents.json"
	startsFile   = "starts.json"
	attendFolder = "attend"
)

// Consents reads what the person has allowed.
func (f Folders) Consents() (Consents, error) {
	all := Consents{}
	return all, f.readAttend(consentsFile, &all)
}

// Consent lets mail resume an agent, or Everyone who is not named; with nil it does so no
// longer, and says whether mail did before. An agent that is named stays denied whatever
// Everyone is allowed, and a bare name stands for all ids that have it.
func (f Folders) Consent(name string, to *Consent) (was bool, err error) {
	all, err := f.Consents()
	if err != nil {
		return false, err
	}
	_, was = all.For(c3po.AgentID(name))
	switch {
	case to != nil:
		all[name] = *to
	case name == Everyone:
		delete(all, name)
	default:
		for other, consent := range all {
			if c3po.AgentID(other).Name() == name {
				was = was || !consent.Denied
				delete(all, other)
			}
		}
		all[name] = Consent{Denied: true}
	}
	return was, f.writeAttend(consentsFile, all)
}

// Starts are when the session of each agent was resumed, of late.
func (f Folders) Starts() (map[c3po.AgentID][]time.Time, error) {
	all := map[c3po.AgentID][]time.Time{}
	return all, f.readAttend(startsFile, &all)
}

// KeepStarts keeps when the session of each agent was resumed.
func (f Folders) KeepStarts(all map[c3po.AgentID][]time.Time) error {
	return f.writeAttend(startsFile, all)
}

// AttendLock is held by the one process that resumes sessions for this user.
func (f Folders) AttendLock() (*Lock, error) {
	dir, err := f.within(attendFolder)
	if err != nil {
		return nil, err
	}
	return TryLock(filepath.Join(dir, "lock"))
}

// IsAttended says that there is a process that resumes sessions for this user.
func (f Folders) IsAttended() bool { return f.isHeld("lock") }

// ResumeLock is held by the process that has a session because mail has resumed it: of a
// session there is never more than one. It is nil if there is one.
func (f Folders) ResumeLock(session string) (*Lock, error) {
	dir, err := f.within(attendFolder)
	if err != nil {
		return nil, err
	}
	return TryLock(filepath.Join(dir, lockOf(session)))
}

// IsResumed says that there is a process that has a session because mail has resumed it.
func (f Folders) IsResumed(session string) bool { return f.isHeld(lockOf(session)) }

func (f Folders) isHeld(lockName string) bool {
	name, err := f.StateFile(filepath.Join(attendFolder, lockName))
	if err != nil {
		return false
	}
	if _, err := os.Stat(name); err != nil {
		return false // it never was; looking leaves no trace
	}
	lock, err := TryLock(name)
	if lock != nil {
		_ = lock.Release()
	}
	return err == nil && lock == nil
}

func lockOf(session string) string {
	return strings.TrimSuffix(noteOf(session), ".json") + ".lock"
}

func (f Folders) readAttend(name string, into any) error {
	file, err := f.StateFile(filepath.Join(attendFolder, name))
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "cannot read %s: %w", file, err).Suggest("Repair it, or remove it.")
	}
	return nil
}

func (f Folders) writeAttend(name string, from any) error {
	dir, err := f.within(attendFolder)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(from, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, name), append(data, '\n'))
}
