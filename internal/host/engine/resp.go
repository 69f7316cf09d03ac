package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A few questions are all this package asks of a server, each over a connection
// of its own. The store's client is not for this: it knows no server that is
// still starting.

var (
	errLoading = errors.New("it is still reading its data")
	errLocked  = errors.New("it has another password")
	errOpen    = errors.New("it has no password")
)

// A door is where a server is asked, and with which password.
type door struct{ socket, password string }

// ask sends one command and returns the strings of its answer.
func (d door) ask(command string) ([]string, error) {
	conn, err := net.DialTimeout("unix", d.socket, time.Second)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	if d.password != "" {
		if _, err := io.WriteString(conn, "AUTH "+d.password+"\r\n"); err != nil {
			return nil, err
		}
		// That it wants none is found out by what it answers then.
		if _, err := answer(reader); err != nil && !errors.Is(err, errOpen) {
			return nil, err
		}
	}
	if _, err := io.WriteString(conn, command+"\r\n"); err != nil {
		return nil, err
	}
	return answer(reader)
}

// lock gives a server that has no password this one.
func (d door) lock() error {
	if _, err := (door{socket: d.socket}).ask("PING"); errors.Is(err, errLocked) {
		return nil
	} else if err != nil {
		return err
	}
	_, err := d.ask("CONFIG SET requirepass " + d.password)
	return err
}

func answer(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty answer")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', ':':
		return []string{rest}, nil
	case '-':
		switch {
		case strings.HasPrefix(rest, "LOADING"):
			return nil, errLoading
		case strings.HasPrefix(rest, "NOAUTH"), strings.HasPrefix(rest, "WRONGPASS"):
			return nil, errLocked
		case strings.HasPrefix(rest, "ERR AUTH "):
			return nil, errOpen
		}
		return nil, errors.New(rest)
	}
	size, err := strconv.Atoi(rest)
	if err != nil || size < 0 || size > 1<<20 {
		return nil, fmt.Errorf("an answer that is not of Redis: %q", line)
	}
	if kind == '$' {
		data := make([]byte, size+len("\r\n"))
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		return []string{string(data[:size])}, nil
	}
	var all []string
	for range size {
		one, err := answer(r)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// dataFolder asks a server that has read its data where it keeps it.
func dataFolder(at door) (string, error) {
	// CONFIG answers while the data is being read, PING does not.
	if _, err := at.ask("PING"); err != nil {
		return "", err
	}
	return configured(at)
}

// configured is where a server keeps its data, also while it reads it.
func configured(at door) (string, error) {
	got, err := at.ask("CONFIG GET dir")
	if err != nil {
		return "", err
	}
	if len(got) != 2 {
		return "", fmt.Errorf("the data folder of the server is %q", got)
	}
	return got[1], nil
}

// processID asks a server for the number of its process.
func processID(at door) (int, error) {
	got, err := at.ask("INFO server")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(strings.Join(got, "\n")) {
		if number, ok := strings.CutPrefix(strings.TrimSpace(line), "process_id:"); ok {
			return strconv.Atoi(number)
		}
	}
	return 0, errors.New("the server does not say which process it is")
}

// requestShutdown asks a server to end. One that does so hangs up.
func requestShutdown(at door) error {
	_, err := at.ask("SHUTDOWN")
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// untilGone returns when the server hangs up or ctx ends. An idle connection
// costs nothing and tells at once.
func untilGone(ctx context.Context, socket string) {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_, _ = conn.Read(make([]byte, 1))
}
