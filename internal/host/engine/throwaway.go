package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// A Throwaway is a server that keeps nothing: somebody looks at it, and then it
// is gone.
type Throwaway struct {
	dir     string
	process *os.Process
	ended   chan struct{}
}

// StartThrowaway starts one that holds what an RDB file holds, or nothing if no
// file is named.
func StartThrowaway(ctx context.Context, snapshot string) (*Throwaway, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "c3po-")
	if err != nil {
		return nil, err
	}
	t := &Throwaway{dir: dir, ended: make(chan struct{})}
	data := filepath.Join(dir, "dump.rdb")
	if snapshot != "" {
		if snapshot, err = filepath.Abs(snapshot); err == nil {
			err = os.Symlink(snapshot, data)
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	log, err := os.Create(logName(dir))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer log.Close()
	cmd := exec.Command(program, "--port", "0", "--unixsocket", t.socket(), "--unixsocketperm", "700", "--dir", dir,
		"--dbfilename", filepath.Base(data), "--appendonly", "no", "--save", "", "--daemonize", "no")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	t.process = cmd.Process
	// One that ends at once, because the file is damaged say, answers nobody.
	reaching, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(t.ended)
		defer cancel()
		_ = cmd.Wait() // its log says why
	}()
	if err := reach(reaching, door{socket: t.socket()}, dir); err != nil {
		failed := notStarted(Config{Dir: dir}, program, "", err)
		t.Close()
		return nil, failed
	}
	return t, nil
}

func (t *Throwaway) socket() string { return filepath.Join(t.dir, "s") }

// URL is its address as a Redis client writes it.
func (t *Throwaway) URL() string { return "unix://" + t.socket() }

// Close ends it, and removes all it had.
func (t *Throwaway) Close() {
	// An error says that it has ended, or that a temporary folder stays.
	_ = t.process.Kill()
	<-t.ended
	_ = os.RemoveAll(t.dir)
}
