package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// The states of an agent.
const (
	StateWaiting = "waiting" // for a trigger
	StateRunning = "running" // its container runs
	StateResting = "resting" // after runs that went wrong, or because its hour is full
	StateEnded   = "ended"   // no runner looks after it
)

// A Record is what is known of an agent's runs on this host.
type Record struct {
	Agent    string       `json:"agent"`
	ID       c3po.AgentID `json:"id,omitempty"`
	State    string       `json:"state"`
	Since    time.Time    `json:"since"`
	Why      string       `json:"why,omitempty"` // it runs or rests
	Runs     int          `json:"runs"`          // by the runner that wrote this
	LastExit *int         `json:"last_exit,omitempty"`
	PID      int          `json:"pid"`
	Started  int64        `json:"started"` // of that process, as this host counts
}

const (
	recordName = "status.json"
	logName    = "output.log"
	lockName   = "lock"
)

// checkName refuses what is no name of an agent, and could be that of a file.
func checkName(name string) error {
	id, err := c3po.ParseAgentID(name)
	if err == nil && id.Host() != "" {
		err = c3po.Errorf(c3po.InvalidRequest, "%q is an id, not a name of agents.yaml", name).Suggest("Leave out what is before the slash.")
	}
	return err
}

// Status is the record of an agent. One whose runner is gone has ended.
func (r *Runner) Status(name string) (Record, error) {
	if err := checkName(name); err != nil {
		return Record{}, err
	}
	data, err := os.ReadFile(filepath.Join(r.cfg.Places.State, "agents", name, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{Agent: name, State: StateEnded}, nil
	}
	var record Record
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	if err == nil && record.State != StateEnded && r.cfg.Started(record.PID) != record.Started {
		record.State, record.Why = StateEnded, "its runner was killed"
	}
	return record, err
}

// OpenLog gives the output of an agent's last run.
func (r *Runner) OpenLog(name string) (*os.File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(r.cfg.Places.State, "agents", name, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, c3po.Errorf(c3po.AgentNotFound, "%s has not run on this host", name).Suggest("`c3po agent status` shows what runs.")
	}
	return file, err
}

// A journal keeps the record of one agent, on disk after each change.
type journal struct {
	folder string
	record Record
	fail   func(error)
}

func (r *Runner) journal(name string, id c3po.AgentID, folder string) *journal {
	return &journal{
		folder: folder, record: Record{Agent: name, ID: id, PID: os.Getpid(), Started: r.cfg.Started(os.Getpid())},
		fail: func(err error) { r.cfg.Log.Warn("cannot write down the state of an agent", "agent", name, "err", err) },
	}
}

// enter notes another state. What cannot be written keeps nothing from running.
func (j *journal) enter(state, why string) {
	j.record.State, j.record.Why, j.record.Since = state, why, time.Now().UTC()
	data, err := json.Marshal(j.record)
	if err == nil {
		err = paths.WriteFile(filepath.Join(j.folder, recordName), append(data, '\n'))
	}
	if err != nil {
		j.fail(err)
	}
}

// A boundedLog is a file that takes so many bytes and then no more: an agent
// that prints for ever must not fill the disk. Its output and its errors are
// written by two goroutines.
type boundedLog struct {
	file *os.File

	mu   sync.Mutex
	left int
}

func openLog(folder string) (*boundedLog, error) {
	name := filepath.Join(folder, logName)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, cannotMake(name, err)
	}
	return &boundedLog{file: file, left: maxLogBytes}, nil
}

// Write never fails: the log is a copy.
func (b *boundedLog) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if part := data[:min(len(data), b.left)]; len(part) > 0 {
		b.left -= len(part)
		_, _ = b.file.Write(part)
	}
	return len(data), nil
}

func (b *boundedLog) Close() error { return b.file.Close() }
