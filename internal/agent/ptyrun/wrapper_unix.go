//go:build unix

package ptyrun

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

const (
	// lookEvery is how often it is looked whether something can be typed, or was
	// answered.
	lookEvery = 100 * time.Millisecond
	// echoQuiet without output, the program has taken in what was typed; echoTimeout is
	// how long that may take. The Enter comes then: together with a paste it would
	// be part of it.
	echoQuiet   = 150 * time.Millisecond
	echoTimeout = time.Second
	// drawnQuiet without output, the screen can be read.
	drawnQuiet = 300 * time.Millisecond
)

// A wrapper stands between the person's terminal and the program's. To hold both locks,
// take in first.
type wrapper struct {
	cfg    Config
	box    *mailbox
	master *os.File
	pid    int // of the program

	terminal          bool // the person sits at one
	stdinFD, stdoutFD int  // -1 if not files

	in      sync.Mutex // of what goes into the program: keys are never mixed with what we type
	keys    keys
	lastKey time.Time
	bare    *string // the line of the prompt with nothing typed, as it was last seen

	out        sync.Mutex // of what comes from it
	screen     *screen
	reader     *answerReader
	lastOutput time.Time
	drawn      bool     // something was printed since the screen was read
	seen       []answer // printed and not yet handed on
}

func newWrapper(cfg Config, box *mailbox) *wrapper {
	w := &wrapper{cfg: cfg, box: box, stdinFD: fileNumber(cfg.Stdin), stdoutFD: fileNumber(cfg.Stdout), lastOutput: time.Now()}
	w.terminal = w.stdinFD >= 0 && term.IsTerminal(w.stdinFD)
	w.keys.piped = !w.terminal
	w.reader = newAnswerReader(func(a answer) { w.seen = append(w.seen, a) })
	return w
}

func fileNumber(of any) int {
	if file, ok := of.(*os.File); ok {
		return int(file.Fd()) // #nosec G115 -- a file descriptor is small
	}
	return -1
}

// identity is what the program's own commands know it by. The coordinator's
// address is the one that is known now.
func (w *wrapper) identity(id c3po.AgentID) []string {
	all := []string{"C3PO_AGENT_ID=" + string(id), "BRIDGE_AGENT_ID=" + string(id), "C3PO_RUN=" + w.cfg.Run}
	if to := w.box.to(); to != nil {
		all = append(all, "BRIDGE_BROKER_URL="+to.URL())
	}
	if w.cfg.TicketFile != "" {
		// An environment does not change while a program runs: the ticket is the one
		// that the file names when somebody answers.
		all = append(all, "BRIDGE_TICKET=current", "BRIDGE_TICKET_FILE="+w.cfg.TicketFile)
	}
	return all
}

// takeOutput takes in output of the program.
func (w *wrapper) takeOutput(output []byte) {
	w.out.Lock()
	w.screen.write(output)
	w.reader.write(output)
	w.lastOutput, w.drawn = time.Now(), true
	w.out.Unlock()
}

// collect hands on the answers that were printed and, once the program is quiet,
// those that it has drawn.
func (w *wrapper) collect(quiet time.Duration) {
	w.out.Lock()
	seen := w.seen
	w.seen = nil
	if w.drawn && time.Since(w.lastOutput) >= quiet && w.box.hasQuestions() {
		w.drawn = false
		seen = append(seen, answersOn(w.screen.paragraphs())...)
	}
	w.out.Unlock()
	if len(seen) == 0 {
		return
	}
	w.in.Lock()
	defer w.in.Unlock()
	for _, a := range seen {
		// What the person has typed is on the screen too.
		if !w.keys.typedTicket(a.ticket) {
			w.box.offer(a)
		}
	}
}

// forwardKeys hands keys of the person to the program.
func (w *wrapper) forwardKeys(input []byte) error {
	w.in.Lock()
	defer w.in.Unlock()
	w.out.Lock()
	elsewhere := w.screen.alternate() && !w.cfg.Prompt.FullScreen
	if w.keys.state == lineEmpty {
		if v := w.screen.view(); w.cfg.Prompt.shows(v) {
			line := v.line()
			w.bare = &line
		}
	}
	w.out.Unlock()
	w.keys.feed(input)
	if elsewhere {
		w.keys.markUnknown() // these are not of any line, or of one that the screen will show
	}
	w.lastKey = time.Now()
	_, err := w.master.Write(input)
	return err
}

// converse types what there is to tell whenever no line is half typed, and hands on what
// the program answers, until ctx ends.
func (w *wrapper) converse(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	waiting := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.box.arrived:
			waiting = true
			continue
		case <-tick.C:
		}
		w.collect(drawnQuiet)
		if !waiting {
			continue
		}
		n := w.box.news(time.Now())
		if n.text == "" {
			waiting = false
			continue
		}
		if w.tell(ctx, n) {
			w.box.recordTyped(ctx, n)
		}
	}
}

// tell types news if the program waits for a line and the person is not at one.
// It says whether it did.
func (w *wrapper) tell(ctx context.Context, n news) bool {
	w.in.Lock()
	defer w.in.Unlock()
	brackets, ready := w.ready()
	if !ready {
		return false
	}
	text := n.text
	if w.cfg.Prompt.Shell {
		text = "# " + text // so it need not be looked for as a command
	}
	text = paste(text, brackets)
	if !brackets && len(text) > maxLineBytes && collectsLines(w.master) {
		text = paste("c3po: there is a message that is too long to be typed here. Run c3po inbox to read it.", false)
	}
	if w.cfg.TicketFile != "" && len(n.tickets) > 0 {
		var lines strings.Builder
		for _, id := range n.tickets {
			lines.WriteString(string(id) + "\n")
		}
		if err := paths.WriteFile(w.cfg.TicketFile, []byte(lines.String())); err != nil {
			w.cfg.Log.WarnContext(ctx, "cannot write the ticket", "err", err)
		}
	}
	if _, err := w.master.WriteString(text); err != nil {
		return false
	}
	w.awaitEcho(ctx)
	if _, err := w.master.WriteString("\r"); err != nil {
		return false
	}
	w.keys.clearLine()
	w.lastKey = time.Now()
	return true
}

// ready says that something can be typed, and how. It is called with in held.
func (w *wrapper) ready() (brackets, ready bool) {
	w.out.Lock()
	defer w.out.Unlock()
	now := time.Now()
	if now.Sub(w.lastOutput) < w.cfg.Quiet || now.Sub(w.lastKey) < w.cfg.Quiet || w.keys.state == lineTyped {
		return false, false
	}
	v := w.screen.view()
	if !w.cfg.Prompt.shows(v) || w.cfg.Prompt.Shell && !inFront(w.master, w.pid) {
		return false, false
	}
	// Only the screen knows, and it must look as it did before.
	if w.keys.state == lineUnknown && (w.bare == nil || v.line() != *w.bare) {
		return false, false
	}
	return w.screen.paste, true
}

func (w *wrapper) awaitEcho(ctx context.Context) {
	began := time.Now()
	tick := time.NewTicker(echoQuiet / 5)
	defer tick.Stop()
	for time.Since(began) < echoTimeout {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.out.Lock()
		last := w.lastOutput
		w.out.Unlock()
		if last.After(began) && time.Since(last) >= echoQuiet {
			return
		}
	}
}
