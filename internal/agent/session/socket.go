package session

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	lockSuffix = ".lock"
	noteSuffix = ".note"
	// retryEvery is how often a session process tries to become the one its run is reached
	// by: a client may start a second one before the first has ended.
	retryEvery = 500 * time.Millisecond
	// requestTimeout is how long a process that connects may take to say what it wants.
	requestTimeout = 5 * time.Second
	// startTimeout is how long a session that has a monitor may take to say that it began.
	startTimeout = 2 * time.Second
)

// A question is what another process of the run asks the session process, as one line.
type question struct {
	Event   *hook.Event `json:"event,omitempty"`   // answered with one line
	Monitor bool        `json:"monitor,omitempty"` // answered with a line whenever mail arrives
	Turn    bool        `json:"turn,omitempty"`    // a monitor only until the next turn begins
	About   bool        `json:"about,omitempty"`   // answered with an Instance
}

// receive answers the other processes of the run until ctx ends.
func (s *Server) receive(ctx context.Context) {
	lock := s.claim(ctx)
	if lock == nil {
		return
	}
	defer lock.Discard()
	sweep(filepath.Dir(s.socket))
	_ = os.Remove(s.socket) // of a process that was killed: the lock says it is gone
	listener, err := net.Listen("unix", s.socket)
	if err != nil {
		s.log.ErrorContext(ctx, "hooks and monitors cannot reach the session", "err", err)
		return
	}
	defer removeRun(s.socket)
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	// The hook that began the session may have run before we listened.
	if event, ok := readNote(s.socket); ok && !s.off() {
		s.follow(event) // no later hook of Claude Code names its transcript
		s.enter(event)
		s.keepSoon()
		s.want()
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go s.serve(ctx, connection)
	}
}

func (s *Server) claim(ctx context.Context) *paths.Lock {
	for {
		lock, err := paths.TryLock(s.socket + lockSuffix)
		if err != nil {
			s.log.ErrorContext(ctx, "hooks and monitors cannot reach the session", "err", err)
			return nil
		}
		if lock != nil {
			return lock
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryEvery):
		}
	}
}

func (s *Server) serve(ctx context.Context, connection net.Conn) {
	defer connection.Close()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	_ = connection.SetReadDeadline(time.Now().Add(requestTimeout))
	reader := bufio.NewReader(connection)
	line, err := reader.ReadBytes('\n')
	var q question
	if err != nil || json.Unmarshal(line, &q) != nil {
		return
	}
	_ = connection.SetReadDeadline(time.Time{})
	if !q.About && s.stranger != nil && s.stranger(connection) {
		return
	}
	switch {
	case q.Event != nil && q.Event.Name == hook.Approve:
		s.serveApproval(ctx, connection, reader, *q.Event)
	case q.Event != nil:
		if _, err := connection.Write([]byte(s.answerHook(ctx, *q.Event) + "\n")); err != nil {
			// The client did not wait for the answer, so the session has not heard it.
			s.remember(hook.Memory.Ungreeted)
		}
	case q.About:
		_ = json.NewEncoder(connection).Encode(s.aboutNow(ctx)) // the client may be gone
	case q.Monitor:
		s.serveMonitor(ctx, connection, reader, q.Turn)
	}
}

// lineBreak stands for a line break in what is sent to a monitor, which prints it all
// at once. No text of ours or of others' has it: the envelope spells it out.
const lineBreak = "\x1e"

// serveMonitor sends a line whenever mail wakes the session, until the monitor
// is gone, or it is one of a turn and the next begins.
func (s *Server) serveMonitor(ctx context.Context, connection net.Conn, reader *bufio.Reader, ofTurn bool) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = reader.ReadByte() // a monitor says nothing more: this ends when it does
	}()
	lines := make(chan string, 8)
	s.listen(lines, ofTurn)
	defer s.unlisten(lines)
	begun := time.After(startTimeout)
	for {
		select {
		case line, open := <-lines:
			if !open {
				return
			}
			if _, err := connection.Write([]byte(strings.ReplaceAll(line, "\n", lineBreak) + "\n")); err != nil {
				return
			}
		case <-begun:
			s.wantUnsaid()
		case <-gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// wantUnsaid makes the agent be there although no hook has said that its session began:
// the client has killed that hook, or started the session process anew. A client that
// runs a monitor has a session.
func (s *Server) wantUnsaid() {
	s.mu.Lock()
	unsaid := s.wantedAt.IsZero()
	s.wantedOff = s.wantedOff || unsaid && s.off()
	s.mu.Unlock()
	if unsaid && !s.off() {
		s.want()
	}
}

func removeRun(socket string) {
	_ = os.Remove(socket)
	_ = os.Remove(socket + noteSuffix)
}

// sweep removes what runs have left behind that were killed.
func sweep(dir string) {
	locks, _ := filepath.Glob(filepath.Join(dir, runPrefix+"*"+lockSuffix))
	for _, name := range locks {
		if lock, err := paths.TryLock(name); err == nil && lock != nil {
			removeRun(strings.TrimSuffix(name, lockSuffix))
			lock.Discard()
		}
	}
}
