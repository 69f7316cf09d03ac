package ptyrun

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// Config says what is run, and as whom.
type Config struct {
	Command []string // the program and its arguments
	Env     []string // of the program; who it is is added

	Stdin  io.Reader
	Stdout io.Writer

	Agent   c3po.AgentID // the id that is asked for
	Profile c3po.RegisterInput
	Run     string // what holds the id
	// Reach finds the coordinator. It is called again after it was lost. Nobody is
	// told of any mail if nil.
	Reach      func() (*client.Client, error)
	TicketFile string // where the questions that were told of last are written, one a line; none if empty

	Prompt      Prompt
	PasteBodies bool // types the text of mail, not only that there is some

	// Started is when a process started, as this machine counts.
	Started func(pid int) int64
	// Warn is called, before the program starts, if the coordinator is away.
	Warn func(error)
	Log  *slog.Logger

	Quiet time.Duration // without output and keys, before anything is typed; 1 s if 0
}

type size struct{ columns, rows int }

// usual is the size of a terminal that has none.
func usual() size { return size{80, 24} }

// run is all that happens between the coordinator and the program.
func (b *mailbox) run(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{}, 2)
	go func() { b.attend(ctx); done <- struct{}{} }()
	go func() { b.post(ctx); done <- struct{}{} }()
	return func() {
		cancel()
		<-done
		<-done
	}
}
