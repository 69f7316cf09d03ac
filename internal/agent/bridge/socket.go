package bridge

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
	// retryEvery is how often a bridge tries to become the one its run is reached
	// by: a client may start a second one before the first has ended.
	retryEvery = 500 * time.Millisecond
	// requestTimeout is how long a process that connects may take to say what it wants.
	requestTimeout = 5 * time.Second
)

// A question is what another process of the run asks the bridge, as one line.
type question struct {
	Event   *hook.Event `json:"event,omitempty"`   // answered with one line
	Monitor bool        `json:"monitor,omitempty"` // answered with a line whenever mail arrives
	Turn    bool        `json:"turn,omitempty"`    // a monitor only until the next turn begins
	About   bool        `json:"about,omitempty"`   // answered with an Instance
}

// receive answers the other processes of the run until ctx ends.
func (b *Bridge) receive(ctx context.Context) {
	lock := b.claim(ctx)
	if lock == nil {
		return
	}
	defer lock.Release()
	sweep(filepath.Dir(b.socket))
	_ = os.Remove(b.socket) // of a process that was killed: the lock says it is gone
	listener, err := net.Listen("unix", b.socket)
	if err != nil {
		b.log.ErrorContext(ctx, "hooks and monitors cannot reach the bridge", "err", err)
		return
	}
	defer removeRun(b.socket)
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	// The hook that began the session may have run before we listened.
	if event, ok := readNote(b.socket); ok && !b.off() {
		b.enter(event)
		b.want()
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go b.serve(ctx, connection)
	}
}

func (b *Bridge) claim(ctx context.Context) *paths.Lock {
	for {
		lock, err := paths.TryLock(b.socket + lockSuffix)
		if err != nil {
			b.log.ErrorContext(ctx, "hooks and monitors cannot reach the bridge", "err", err)
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

func (b *Bridge) serve(ctx context.Context, connection net.Conn) {
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
	if !q.About && b.stranger != nil && b.stranger(connection) {
		return
	}
	switch {
	case q.Event != nil:
		if _, err := connection.Write([]byte(b.hooked(ctx, *q.Event) + "\n")); err != nil {
			// Who asked did not wait for the answer, so the session has not heard it.
			b.remember(hook.Memory.Ungreeted)
		}
	case q.About:
		_ = json.NewEncoder(connection).Encode(b.aboutNow(ctx)) // who asked may be gone
	case q.Monitor:
		b.serveMonitor(ctx, connection, reader, q.Turn)
	}
}

// lineBreak stands for a line break in what is sent to a monitor, which prints it all
// at once. No text of ours or of others' has it: the envelope spells it out.
const lineBreak = "\x1e"

// serveMonitor sends a line whenever mail wakes the session, until the monitor
// is gone, or it is one of a turn and the next begins.
func (b *Bridge) serveMonitor(ctx context.Context, connection net.Conn, reader *bufio.Reader, ofTurn bool) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = reader.ReadByte() // a monitor says nothing more: this ends when it does
	}()
	lines := make(chan string, 8)
	b.listen(lines, ofTurn)
	defer b.unlisten(lines)
	for {
		select {
		case line, open := <-lines:
			if !open {
				return
			}
			if _, err := connection.Write([]byte(strings.ReplaceAll(line, "\n", lineBreak) + "\n")); err != nil {
				return
			}
		case <-gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

func removeRun(socket string) {
	for _, name := range []string{socket, socket + noteSuffix, socket + lockSuffix} {
		_ = os.Remove(name)
	}
}

// sweep removes what runs have left behind that were killed.
func sweep(dir string) {
	locks, _ := filepath.Glob(filepath.Join(dir, runPrefix+"*"+lockSuffix))
	for _, name := range locks {
		if lock, err := paths.TryLock(name); err == nil && lock != nil {
			removeRun(strings.TrimSuffix(name, lockSuffix))
			_ = lock.Release()
		}
	}
}
