//go:build unix

package ptyrun

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// registerTimeout is how long the start of the program waits for the coordinator.
	registerTimeout = 2 * time.Second
	// drainTimeout is how long the output of a program that has ended is read while
	// others still hold its terminal.
	drainTimeout = 200 * time.Millisecond
	// hangUpTimeout is how long a program may take to end after its terminal is gone.
	hangUpTimeout = 5 * time.Second
)

// Run runs the program to its end and returns its exit code, which is 128+n of
// one that signal n has ended. When ctx ends, the program loses its terminal.
func Run(ctx context.Context, cfg Config) (int, error) {
	cfg.Quiet = cmp.Or(cfg.Quiet, time.Second)
	path, err := exec.LookPath(cfg.Command[0])
	if err != nil {
		return notFound(cfg.Command[0], err)
	}
	box := newMailbox(cfg)
	id := cfg.Agent
	if cfg.Reach != nil {
		limited, cancel := context.WithTimeout(ctx, registerTimeout)
		if known, err := box.register(limited); err == nil {
			id = known
		} else {
			cfg.Warn(err)
		}
		cancel()
	}
	w := newWrapper(cfg, box)
	cmd := exec.Command(path, cfg.Command[1:]...) // #nosec G204 -- what the person asked to run
	cmd.Args[0] = cfg.Command[0]
	cmd.Env = append(cfg.Env, w.identity(id)...)
	if err := w.start(cmd); err != nil {
		box.goodbye(ctx, false)
		return notFound(cfg.Command[0], err)
	}
	defer w.screen.close()
	restore := w.raw()
	defer restore()
	box.profile.PID, box.profile.PIDStart = cmd.Process.Pid, cfg.Started(cmd.Process.Pid)
	code := w.wait(ctx, cmd)
	restore()
	box.goodbye(context.WithoutCancel(ctx), code != 0)
	return code, nil
}

// notFound gives the exit codes that shells have for it.
func notFound(program string, err error) (int, error) {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC) {
		return 126, c3po.Because(err, c3po.InvalidRequest, program+" cannot be run").Suggest("Check that it is a program, and executable.")
	}
	return 127, c3po.Because(err, c3po.InvalidRequest, program+" is not a command here").Suggest("Check its name and PATH.")
}

func (w *wrapper) start(cmd *exec.Cmd) error {
	at := w.size()
	master, slave, err := pty.Open()
	if err != nil {
		return err
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: uint16(at.rows), Cols: uint16(at.columns)}); err != nil { // #nosec G115 -- a terminal said it, or 80×24
		return errors.Join(err, master.Close())
	}
	if !w.terminal {
		mute(slave)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	w.master, w.screen = master, newScreen(at)
	if err := cmd.Start(); err != nil {
		w.screen.close()
		return errors.Join(err, master.Close())
	}
	w.pid = cmd.Process.Pid
	return nil
}

// raw hands the person's keys over as they are, until restore is called, which
// may be more than once.
func (w *wrapper) raw() (restore func()) {
	if !w.terminal {
		return func() {}
	}
	before, err := term.MakeRaw(w.stdinFD)
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(w.stdinFD, before) }
}

// size is that of the person's terminal.
func (w *wrapper) size() size {
	for _, fd := range []int{w.stdoutFD, w.stdinFD} {
		if fd < 0 {
			continue
		}
		if columns, rows, err := term.GetSize(fd); err == nil && columns > 0 && rows > 0 {
			return size{columns, rows}
		}
	}
	return usual()
}

// wait serves the program until it has ended.
func (w *wrapper) wait(ctx context.Context, cmd *exec.Cmd) int {
	// Also what would end us: the program decides what it does with a signal. A
	// write to a terminal that is gone is an error and not the end.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGPIPE)
	defer signal.Stop(signals)

	output := make(chan struct{})
	go func() { w.copyOutput(); close(output) }()
	go w.copyInput()
	stop := func() {}
	if w.cfg.Reach != nil {
		stop = w.box.run(ctx)
	}
	typing, quit := context.WithCancel(ctx)
	typed := make(chan struct{})
	go func() { w.converse(typing); close(typed) }()
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // how it went is in its state
	w.resize()
	w.serve(ctx, cmd, signals, ended)
	w.drain(output)
	quit()
	_ = w.master.Close() // a write that the program never took ends
	// A process that stays, as nohup has it, may hold the other end: reads and writes of
	// a terminal that block do not end with its Close.
	for _, done := range []<-chan struct{}{output, typed} {
		select {
		case <-done:
		case <-time.After(drainTimeout):
		}
	}
	w.collect(0)
	stop()
	return exitCode(cmd.ProcessState)
}

// serve passes signals on until the program has ended.
func (w *wrapper) serve(ctx context.Context, cmd *exec.Cmd, signals <-chan os.Signal, ended <-chan struct{}) {
	gone := ctx.Done()
	var kill <-chan time.Time
	for {
		select {
		case <-ended:
			return
		case s := <-signals:
			switch s {
			case syscall.SIGWINCH:
				w.resize()
			case syscall.SIGPIPE:
			default:
				w.signal(cmd, s.(syscall.Signal))
			}
		case <-gone:
			gone = nil
			w.signal(cmd, syscall.SIGHUP)
			kill = time.After(hangUpTimeout)
		case <-kill:
			w.signal(cmd, syscall.SIGKILL)
		}
	}
}

// signal reaches the program and what it runs in its own group.
func (w *wrapper) signal(cmd *exec.Cmd, s syscall.Signal) {
	_ = syscall.Kill(-cmd.Process.Pid, s)
}

// drain reads what the program has left behind. A process it started may still hold the
// terminal; drain does not wait for that.
func (w *wrapper) drain(output <-chan struct{}) {
	for {
		select {
		case <-output:
			return
		case <-time.After(drainTimeout / 4):
			w.out.Lock()
			idle := time.Since(w.lastOutput)
			w.out.Unlock()
			if idle > drainTimeout {
				return
			}
		}
	}
}

func (w *wrapper) resize() {
	to := w.size()
	_ = pty.Setsize(w.master, &pty.Winsize{Rows: uint16(to.rows), Cols: uint16(to.columns)}) // #nosec G115 -- as in start
	w.out.Lock()
	defer w.out.Unlock()
	w.screen.resize(to)
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// copyOutput shows what the program prints, until its terminal is closed.
func (w *wrapper) copyOutput() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := w.master.Read(buffer)
		if n > 0 {
			// The screen first: a person who sees a prompt may press a key at once.
			w.takeOutput(buffer[:n])
			_, _ = w.cfg.Stdout.Write(buffer[:n]) // if nobody looks any more, the program goes on
		}
		if err != nil {
			return
		}
	}
}

// copyInput hands the person's keys to the program. A file or pipe that has ended
// is the end of the program's input.
func (w *wrapper) copyInput() {
	buffer := make([]byte, 4<<10)
	last := byte('\n')
	for {
		n, err := w.cfg.Stdin.Read(buffer)
		if n > 0 {
			last = buffer[n-1]
			if w.forwardKeys(buffer[:n]) != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) && !w.terminal {
			const endOfInput = "\x04"
			ends := endOfInput
			if last != '\n' && last != '\r' {
				ends += endOfInput // the first only sends the line
			}
			_ = w.forwardKeys([]byte(ends))
		}
		if err != nil {
			return
		}
	}
}
