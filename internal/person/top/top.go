package top

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/c3po-dev/c3po/c3po"
)

// Config says what is shown and where. Source, In and Out are needed.
type Config struct {
	Source Source
	Which  string           // tickets, as in c3po.TicketsInput
	Now    func() time.Time // time.Now if nil
	In     io.Reader
	Out    io.Writer
}

// Interactive says whether the view can be shown: both are terminals.
func Interactive(in io.Reader, out io.Writer) bool {
	from, ok := in.(*os.File)
	to, ok2 := out.(*os.File)
	return ok && ok2 && term.IsTerminal(int(from.Fd())) && term.IsTerminal(int(to.Fd()))
}

// Run shows the view until its reader has enough or ctx ends. A coordinator
// that cannot be reached at the start is an error; one that goes away later is
// waited for.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	first, err := Look(ctx, cfg.Source, cfg.Which)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	m := newModel(first, cfg.Source.URL(), cfg.Now)
	m.act = func(a act) tea.Cmd {
		return func() tea.Msg { return a.do(ctx, cfg.Source) }
	}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(cfg.In), tea.WithOutput(cfg.Out), tea.WithoutSignalHandler())
	feed := newFeed(cfg.Source, cfg.Which, program.Send)
	m.touch = feed.touch
	work.Go(func() { _ = feed.Run(ctx, first) })
	_, err = program.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, tea.ErrInterrupted) {
		return context.Canceled
	}
	return err
}

// An act is something the reader does to the space.
type act struct {
	answer *c3po.AnswerInput
	pause  *c3po.PauseInput
	resume *c3po.PauseInput
	send   *c3po.SendInput
}

// doneMsg is what became of an act, in words.
type doneMsg struct {
	said string
	err  error
}

func (a act) do(ctx context.Context, source Source) tea.Msg {
	switch {
	case a.answer != nil:
		answer, err := source.HumanAnswer(ctx, *a.answer)
		return doneMsg{"Answered " + string(answer.ToAgent) + ".", err}
	case a.send != nil:
		receipt, err := source.SendMessage(ctx, *a.send)
		return doneMsg{"Sent to " + string(receipt.ToAgent) + ".", err}
	case a.pause != nil:
		_, err := source.Pause(ctx, *a.pause)
		return doneMsg{a.pause.AgentID + " is paused.", err}
	default:
		result, err := source.Resume(ctx, *a.resume)
		if err == nil && result.Paused != nil {
			return doneMsg{a.resume.AgentID + " is still paused: " + *result.Paused, nil}
		}
		return doneMsg{a.resume.AgentID + " goes on.", err}
	}
}
