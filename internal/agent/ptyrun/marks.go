package ptyrun

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// openMark, a ticket and a blank begin an answer, and closeMark ends it.
	openMark  = "<<c3po:"
	closeMark = "c3po>>"
	// maxAnswerBytes is how long an answer may be. What is longer is not one.
	maxAnswerBytes = 64 << 10
	maxTicketBytes = 300
)

// An answer is what stood between two marks.
type answer struct {
	ticket c3po.MessageID
	text   string
}

// key is the same for an answer that is seen again, also when its lines were
// broken elsewhere in the meantime.
func (a answer) key() string {
	visible := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, a.text)
	sum := sha256.Sum256([]byte(string(a.ticket) + "\x00" + visible))
	return "run-" + hex.EncodeToString(sum[:16])
}

// marks finds answers in a text, character by character. An open mark inside of
// an answer begins it anew: what was before it was half of one.
type marks struct {
	found func(answer)

	in     marksState
	seen   int // of openMark
	ticket c3po.MessageID
	text   strings.Builder // the ticket, or the answer
}

type marksState int

const (
	outside marksState = iota
	inTicket
	inAnswer
)

func (m *marks) reset() {
	m.in, m.seen = outside, 0
	m.text.Reset()
}

func (m *marks) next(r rune) {
	switch m.in {
	case outside:
		m.seek(r)
	case inTicket:
		m.name(r)
	case inAnswer:
		m.answer(r)
	}
}

func (m *marks) seek(r rune) {
	switch {
	case r == rune(openMark[m.seen]):
		m.seen++
	case r == '<' && m.seen == 2: // a third one: the last two count
	case r == '<':
		m.seen = 1
	default:
		m.seen = 0
	}
	if m.seen == len(openMark) {
		m.reset()
		m.in = inTicket
	}
}

func (m *marks) name(r rune) {
	if !unicode.IsSpace(r) && m.text.Len() < maxTicketBytes {
		m.text.WriteRune(r)
		if strings.HasSuffix(m.text.String(), openMark) {
			m.text.Reset()
		}
		return
	}
	ticket, err := c3po.ParseMessageID(m.text.String())
	m.reset()
	if err == nil && unicode.IsSpace(r) {
		m.in, m.ticket = inAnswer, ticket
	}
}

func (m *marks) answer(r rune) {
	m.text.WriteRune(r)
	switch {
	case r == '>' && strings.HasSuffix(m.text.String(), closeMark):
		text := tidy(strings.TrimSuffix(m.text.String(), closeMark))
		ticket := m.ticket
		m.reset()
		if text != "" && len(text) <= maxAnswerBytes {
			m.found(answer{ticket, text})
		}
	case r == ':' && strings.HasSuffix(m.text.String(), openMark):
		m.reset()
		m.in = inTicket
	case m.text.Len() > maxAnswerBytes+maxAnswerBytes/4:
		m.reset()
	}
}

// tidy takes away the blanks around an answer, at the ends of its lines, and
// those that all lines after its first begin with: the margin of a program that
// draws.
func tidy(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	margin := -1
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
		if i == 0 || lines[i] == "" {
			continue
		}
		if blanks := len(line) - len(strings.TrimLeft(line, " ")); margin < 0 || blanks < margin {
			margin = blanks
		}
	}
	for i := range lines {
		if i > 0 && margin > 0 && lines[i] != "" {
			lines[i] = lines[i][margin:]
		}
	}
	return strings.Join(lines, "\n")
}

// An answerReader finds answers in what a program prints one line after the
// other. An answer during which the cursor was moved about is not read here: it
// is what it looks like on the screen.
type answerReader struct {
	parser *ansi.Parser
	marks  marks
	cr     bool // a carriage return came, and nothing after it yet
}

func newAnswerReader(found func(answer)) *answerReader {
	r := &answerReader{parser: ansi.NewParser(), marks: marks{found: found}}
	r.parser.SetParamsSize(32)
	r.parser.SetDataSize(4096)
	r.parser.SetHandler(ansi.Handler{
		Print:     r.print,
		Execute:   r.control,
		HandleCsi: r.sequence,
		HandleEsc: r.escape,
	})
	return r
}

func (r *answerReader) write(output []byte) {
	if len(output) == 0 {
		return
	}
	// Most of what is printed is not an answer, and all output passes here.
	if r.marks.in == outside && r.marks.seen == 0 && r.parser.State() == parser.GroundState &&
		bytes.IndexByte(output, openMark[0]) < 0 && flows(output) {
		r.cr = output[len(output)-1] == '\r'
		return
	}
	for _, b := range output {
		r.parser.Advance(b)
	}
}

func (r *answerReader) print(c rune) {
	if r.cr {
		r.cr = false
		r.marks.reset() // the line is written over
	}
	r.marks.next(c)
}

func (r *answerReader) control(b byte) {
	switch b {
	case '\n':
		r.cr = false
		r.marks.next('\n')
	case '\r':
		r.cr = true
	case '\t':
		r.print('\t')
	case 0, '\a': // nothing is seen of them
	default:
		r.marks.reset()
	}
}

// sequence lets pass what changes how text looks, and not where it stands.
func (r *answerReader) sequence(cmd ansi.Cmd, params ansi.Params) {
	erases, _, _ := params.Param(0, 0)
	switch final := cmd.Final(); {
	case strings.IndexByte("mhlqncut", final) >= 0:
	case final == 'K' && erases == 0: // to the right, where nothing is yet
	default:
		r.marks.reset()
	}
}

// escape lets pass what chooses characters and keys.
func (r *answerReader) escape(cmd ansi.Cmd) {
	if cmd.Intermediate() == 0 && strings.IndexByte("=>", cmd.Final()) < 0 {
		r.marks.reset()
	}
}

// answersOn finds the answers in a text that was read from a screen.
func answersOn(text string) []answer {
	var all []answer
	m := marks{found: func(a answer) { all = append(all, a) }}
	for _, r := range text {
		m.next(r)
	}
	return all
}
