package session

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const runPrefix = "run-"

// SocketName is the name of the socket by which the processes of a run find
// each other.
func SocketName(run string) string {
	sum := sha256.Sum256([]byte(run))
	return runPrefix + hex.EncodeToString(sum[:8]) + ".sock"
}

// A Trust says that the listener at a socket is the session process of its run: any
// program of the user can put a socket there. Nil trusts every listener.
type Trust func(net.Conn) bool

// Ask hands an event to the session process of a run and returns its answer. A session process
// that has not started yet finds the event when it does; then, or when it does
// not answer before ctx ends, there is no answer.
func Ask(ctx context.Context, socket string, by Trust, event hook.Event) (answer string, ok bool) {
	if err := writeNote(socket, event); err != nil {
		return "", false
	}
	for {
		if answer, ok := AskHere(ctx, socket, by, event); ok {
			return answer, true
		}
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// AskHere hands an event to a session process that listens, and returns its answer. If
// none listens there is no answer.
func AskHere(ctx context.Context, socket string, by Trust, event hook.Event) (answer string, ok bool) {
	connection, err := dial(ctx, socket, by, question{Event: &event})
	if err != nil {
		return "", false
	}
	defer connection.Close()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	line, err := bufio.NewReader(connection).ReadString('\n')
	return line, err == nil
}

// Listen tells of a line whenever mail wakes the session, until the session process ends or
// ctx does.
func Listen(ctx context.Context, socket string, by Trust, tell func(line string)) error {
	return listen(ctx, socket, by, question{Monitor: true}, tell)
}

// Rest is Listen for a client that waits at the end of a turn: it ends when the
// next turn begins, for the client may have given up waiting and not have said so.
func Rest(ctx context.Context, socket string, by Trust, tell func(line string)) error {
	return listen(ctx, socket, by, question{Monitor: true, Turn: true}, tell)
}

func listen(ctx context.Context, socket string, by Trust, q question, tell func(line string)) error {
	connection, err := dial(ctx, socket, by, q)
	if err != nil {
		return err
	}
	defer connection.Close()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		tell(strings.ReplaceAll(lines.Text(), lineBreak, "\n"))
	}
	return lines.Err()
}

func dial(ctx context.Context, socket string, by Trust, q question) (net.Conn, error) {
	connection, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if by != nil && !by(connection) {
		_ = connection.Close()
		return nil, errors.New("somebody else listens at the socket of the session")
	}
	line, err := json.Marshal(q)
	if err == nil {
		_, err = connection.Write(append(line, '\n'))
	}
	if err != nil {
		_ = connection.Close()
		return nil, err
	}
	return connection, nil
}

// The note tells a session process that starts later how its session began.

func writeNote(socket string, event hook.Event) error {
	data, err := json.Marshal(event)
	if err != nil {
		return err
	}
	return paths.WriteFile(socket+noteSuffix, data)
}

func readNote(socket string) (hook.Event, bool) {
	var event hook.Event
	data, err := os.ReadFile(socket + noteSuffix)
	if err != nil || json.Unmarshal(data, &event) != nil {
		return hook.Event{}, false
	}
	return event, true
}
