// Package streamfmt shows a run of Claude Code to a person: it reads the
// stream-json that `claude -p` writes and tells, line by line, what was said,
// which tools were used and for how long, and how it ended. What it does not
// know it leaves out and counts; nothing of the stream reaches the terminal
// without being made harmless.
package streamfmt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	// maxLineBytes is more than a record has that is worth showing; pictures are longer.
	maxLineBytes = 16 << 20
	// maxColumns is what one line of a tool may take of a terminal.
	maxColumns = 110
	// maxQuiet is how far apart two lines about the same silence are at most.
	maxQuiet = time.Minute
)

// A Config says how a stream is shown. The zero value of every field is usable.
type Config struct {
	Colour  bool
	Results bool             // all that tools answer, not only the first line
	Quiet   time.Duration    // a silence after which it is said what goes on; 10 s if 0
	Now     func() time.Time // time.Now if nil
}

// A Summary is how a run went, by its own account.
type Summary struct {
	SessionID string
	Result    string // the last words
	Failed    bool
	CostUSD   float64
	Turns     int
	Took      time.Duration
	Ended     bool // there was an account
	Records   int  // lines that are records
	Unknown   int  // of those, of a kind that is not known here
}

// Copy shows src on dst until src ends. A dst that fails is written to no more,
// while src is read on: whoever writes the stream must not stand still because
// nobody looks.
func Copy(dst io.Writer, src io.Reader, cfg Config) (Summary, error) {
	if cfg.Quiet <= 0 {
		cfg.Quiet = 10 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &show{Config: cfg, to: dst, began: cfg.Now(), calls: map[string]*call{}}
	s.since = s.began
	lines := make(chan line)
	go read(src, lines)

	silence := cfg.Quiet
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for {
		select {
		case got := <-lines:
			if got.err != nil {
				s.end()
				if errors.Is(got.err, io.EOF) {
					got.err = nil
				}
				return s.Summary, errors.Join(got.err, s.failed)
			}
			s.line(got.text)
			silence = cfg.Quiet
		case <-timer.C:
			s.stillAtIt()
			silence = min(2*silence, max(maxQuiet, cfg.Quiet))
		}
		timer.Reset(silence)
	}
}

// A line of the stream, or why there are no more.
type line struct {
	text []byte
	err  error
}

// read gives the lines of a stream one by one. Of one that is too long only the
// beginning is given, which is then no record.
func read(src io.Reader, to chan<- line) {
	in := bufio.NewReaderSize(src, 64<<10)
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		if room := maxLineBytes - len(text); len(part) > room {
			part = part[:room]
		}
		text = append(text, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(text) > 0 {
			to <- line{text: text}
			text = nil
		}
		if err != nil {
			to <- line{err: err}
			return
		}
	}
}

// show is one stream on its way to a person.
type show struct {
	Config
	Summary
	to     io.Writer
	failed error // the first of writing
	folder string
	model  string

	began time.Time
	since time.Time // it does what it does
	doing string
	calls map[string]*call
	order []*call // those of calls, oldest first
}

// line shows one line of the stream. What is no record is shown as it is: before
// the client starts, and when it dies, others write there too.
func (s *show) line(text []byte) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	r, ok := parse(text)
	if !ok {
		if len(text) >= maxLineBytes-1 {
			s.Unknown++
			return
		}
		for _, part := range sanitise.Lines(string(text)) {
			s.say("", part, plain)
		}
		return
	}
	s.Records++
	if !s.record(r) {
		s.Unknown++
	}
}

// The inks of a terminal.
const (
	plain = ""
	dim   = "\x1b[2m"
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	blue  = "\x1b[34m"
	reset = "\x1b[0m"
)

// say writes one line, which is safe by now.
func (s *show) say(indent, text, ink string) {
	if s.failed != nil {
		return
	}
	if s.Colour && ink != plain {
		text = ink + text + reset
	}
	_, s.failed = io.WriteString(s.to, indent+text+"\n")
}

// stillAtIt says what goes on where nothing has been said for a while.
func (s *show) stillAtIt() {
	if s.Ended {
		return
	}
	now := s.Now()
	if len(s.order) == 0 {
		doing := s.doing
		if doing == "" {
			doing = "starting"
		}
		s.say("", fmt.Sprintf("… %s for %s", doing, brief(now.Sub(s.since))), dim)
		return
	}
	for _, c := range s.order {
		s.say(c.indent, fmt.Sprintf("… %s for %s", c.what, brief(now.Sub(c.seen))), dim)
	}
}

// nowDoing is what goes on from here, besides the tools that run.
func (s *show) nowDoing(what string) {
	if s.doing != what {
		s.doing, s.since = what, s.Now()
	}
}

// end says how the run went, once its stream is over.
func (s *show) end() {
	for _, c := range s.order {
		s.say(c.indent, "✗ "+c.what+"  was not finished", red)
	}
	if !s.Ended && s.Records > 0 {
		s.Failed = true
		s.say("", fmt.Sprintf("✗ ended without a result after %s", brief(s.Now().Sub(s.began))), red)
	}
}

// brief is a duration as one says it.
func brief(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// cut is a text within a line, harmless and not too long.
func cut(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if most < 1 {
		return ""
	}
	runes := []rune(text)
	if len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return sanitise.Inline(text)
}
