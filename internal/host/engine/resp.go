package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/host/resp"
)

const askTimeout = 2 * time.Second

var (
	errLoading = errors.New("it is still reading its data")
	errLocked  = errors.New("it has another password")
)

// A door is where a server is asked, and with which password.
type door struct{ socket, password string }

// ask sends one command and returns the strings of its answer.
func (d door) ask(command ...string) ([]string, error) {
	commands := [][]string{command}
	if d.password != "" {
		commands = [][]string{{"AUTH", d.password}, command}
	}
	reply, err := resp.Ask("unix", d.socket, askTimeout, commands...)
	if refused, ok := errors.AsType[resp.Error](err); ok {
		switch word := string(refused); {
		case strings.HasPrefix(word, "LOADING"):
			return nil, errLoading
		case strings.HasPrefix(word, "NOAUTH"), strings.HasPrefix(word, "WRONGPASS"):
			return nil, errLocked
		case strings.HasPrefix(word, "ERR AUTH ") && d.password != "":
			return door{socket: d.socket}.ask(command...) // it wants none
		}
	}
	return texts(reply), err
}

// lock gives a server that has no password this one.
func (d door) lock() error {
	if _, err := (door{socket: d.socket}).ask("PING"); errors.Is(err, errLocked) {
		return nil
	} else if err != nil {
		return err
	}
	_, err := d.ask("CONFIG", "SET", "requirepass", d.password)
	return err
}

// texts are the strings of a reply.
func texts(reply any) (all []string) {
	switch reply := reply.(type) {
	case string:
		all = []string{reply}
	case []any:
		for _, one := range reply {
			all = append(all, texts(one)...)
		}
	}
	return all
}

// dataFolder asks a server that has read its data where it keeps it.
func dataFolder(at door) (string, error) {
	// CONFIG answers while the data is being read, PING does not.
	if _, err := at.ask("PING"); err != nil {
		return "", err
	}
	return configuredFolder(at)
}

// configuredFolder is where a server keeps its data, also while it reads it.
func configuredFolder(at door) (string, error) {
	got, err := at.ask("CONFIG", "GET", "dir")
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
	got, err := at.ask("INFO", "server")
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
