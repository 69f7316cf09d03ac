package session

import (
	"bufio"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// aboutTimeout is how long a session process may take to say what it is.
const aboutTimeout = time.Second

// An Instance is a session of an agent on this host, as its session process knows it.
type Instance struct {
	Agent     c3po.AgentID      `json:"agent"`
	Run       string            `json:"run"`
	PID       int               `json:"pid"` // of the client
	PIDStart  int64             `json:"pid_start,omitempty"`
	Client    string            `json:"client,omitempty"`
	Folder    string            `json:"folder,omitempty"`
	Session   string            `json:"session,omitempty"`
	Connected bool              `json:"connected"` // it is registered, and hears of mail
	Trouble   string            `json:"trouble,omitempty"`
	Off       bool              `json:"off"`
	Busy      bool              `json:"busy"`
	State     c3po.SessionState `json:"state,omitempty"`
	// StateSince is when the session process first saw that.
	StateSince *time.Time `json:"state_since,omitempty"`
	// ToldAgain is when the mail of a turn that failed starts another.
	ToldAgain *time.Time   `json:"told_again,omitempty"`
	Monitors  int          `json:"monitors"` // that can wake it while it is idle
	Ignored   int          `json:"ignored_wakes"`
	Unread    int          `json:"unread"`
	Paused    string       `json:"paused,omitempty"` // why; nobody but the person wakes it then
	Asked     c3po.AgentID `json:"asked,omitempty"`  // the id it would rather have
	LastHook  *HookRun     `json:"last_hook,omitempty"`
}

// Instances asks the session processes whose sockets are in a folder. One that does not
// answer in time is there with its trouble; one that has ended is not.
func Instances(ctx context.Context, dir string) []Instance {
	sockets, _ := filepath.Glob(filepath.Join(dir, runPrefix+"*.sock"))
	var all []Instance
	for _, socket := range sockets {
		if about, ok := About(ctx, socket, nil); ok {
			all = append(all, about)
		} else if isAlive(socket) {
			all = append(all, Instance{Run: filepath.Base(socket), Trouble: "its session process does not answer"})
		}
	}
	slices.SortFunc(all, func(a, b Instance) int { return strings.Compare(string(a.Agent)+a.Run, string(b.Agent)+b.Run) })
	return all
}

// About asks the session process at a socket what it is. One that does not answer in time is
// not there.
func About(ctx context.Context, socket string, by Trust) (Instance, bool) {
	ctx, cancel := context.WithTimeout(ctx, aboutTimeout)
	defer cancel()
	connection, err := dial(ctx, socket, by, question{About: true})
	if err != nil {
		return Instance{}, false
	}
	defer connection.Close()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	var about Instance
	err = json.NewDecoder(bufio.NewReader(connection)).Decode(&about)
	return about, err == nil
}

// isAlive says that the process of a socket lives.
func isAlive(socket string) bool {
	lock, err := paths.TryLock(socket + lockSuffix)
	if lock != nil {
		_ = lock.Release()
	}
	return err == nil && lock == nil
}

// aboutNow is about, with a look whether the coordinator and its store answer: a
// wait that is held shows nothing of that.
func (s *Server) aboutNow(ctx context.Context) Instance {
	about := s.about()
	if !about.Connected {
		return about
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeouts.Reach)
	defer cancel()
	if _, err := s.look(ctx, c3po.PendingInput{}); err != nil {
		about.Connected, about.Trouble = false, "the coordinator does not answer"
	}
	return about
}

// about is what this session process says of itself.
func (s *Server) about() Instance {
	off := s.off()
	s.mu.Lock()
	defer s.mu.Unlock()
	about := Instance{
		Agent: s.client.ID(), Run: s.run, PID: s.profile.PID, PIDStart: s.profile.PIDStart, Client: s.profile.Type, Folder: s.profile.Cwd,
		Session: s.conversation.id, Off: off, State: s.conversation.state(off, time.Now()), StateSince: s.conversation.stateSince(), Busy: s.conversation.activity.Busy(time.Now()), Monitors: len(s.conversation.monitors), Ignored: s.conversation.wakes,
		Unread: len(s.conversation.mail), Paused: s.conversation.paused.why,
	}
	if at, waits := s.conversation.activity.Again(time.Now()); waits && about.State == c3po.SessionFailed {
		at = at.UTC()
		about.ToldAgain = &at
	}
	if about.Agent.Name() != s.asked.Name() {
		about.Asked = s.asked
	}
	if !s.ran.At.IsZero() {
		last := s.ran
		about.LastHook = &last
	}
	select {
	case <-s.settled:
		about.Connected = !off
	default:
		if s.trouble != nil {
			about.Trouble = c3po.AsError(s.trouble).Message
		}
	}
	// A wait outlives a coordinator that is restarted, and only then fails.
	if s.client.Lost() && about.Connected {
		about.Connected, about.Trouble = false, "the coordinator does not answer"
	}
	return about
}
