package faultrig

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/c3po-dev/c3po/c3po"
)

// A Tally is Check for runs that are too long to be written down: it judges
// while they go on, and keeps eight bytes a message. For that a run keeps to a
// form: the messages from one agent to another are numbered from 0, each is sent
// when the one before it is known to be stored, and each inbox has one reader,
// which reads again only when it knows that its ack was done. The zero value is
// ready; it is safe for concurrent use.
type Tally struct {
	mu     sync.Mutex
	lines  map[line]*account
	report Report
}

// A line is what one agent sends to another.
type line struct{ from, to c3po.AgentID }

type account struct {
	marks []mark
	next  int // the number after the highest that was read
}

// A mark is what is known of one message.
type mark struct {
	hex   uint32 // of its id, once it is known
	state uint8
}

const (
	markStored = 1 << iota // its sender was told
	markNamed              // hex is set
	markRead
	markAcked // its reader was told
)

// NumberedText is a text that says which of its line a message is.
func NumberedText(from c3po.AgentID, n int) string { return fmt.Sprintf("%s says %d", from, n) }

// numberOf reads the text back.
func numberOf(text string) (from c3po.AgentID, n int, ok bool) {
	who, number, found := strings.Cut(text, " says ")
	n, err := strconv.Atoi(number)
	return c3po.AgentID(who), n, found && err == nil && n >= 0
}

// Stored takes that a sender was told that its message is stored under an id.
func (t *Tally) Stored(from, to c3po.AgentID, n int, id c3po.MessageID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.account(line{from, to})
	m := a.mark(n)
	if m.state&markStored == 0 {
		m.state |= markStored
		t.report.Sends++
		t.report.Stored++
	}
	t.named(from, to, n, m, id)
}

// Read takes one page as its reader was given it.
func (t *Tally) Read(reader c3po.AgentID, page []c3po.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, message := range page {
		t.read(reader, message)
	}
}

// Acked takes that a reader was told that all of a page has ended.
func (t *Tally) Acked(reader c3po.AgentID, page []c3po.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, message := range page {
		if from, n, ok := numberOf(message.Text()); ok {
			t.account(line{from, reader}).mark(n).state |= markAcked
		}
	}
}

// Report is what was found by the end: what is not read is lost, what was read
// and never called stored is invented.
func (t *Tally) Report() Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	report := t.report
	report.Violations = append([]Violation(nil), report.Violations...)
	for l, a := range t.lines {
		for n, m := range a.marks {
			switch m.state & (markStored | markRead) {
			case markStored:
				report.Violations = append(report.Violations, Violation{Lost, textOf(l.from, l.to, n), "stored, and never read"})
			case markRead:
				report.Violations = append(report.Violations, Violation{Invented, textOf(l.from, l.to, n), "read, and never called stored"})
			}
		}
	}
	return report
}

func (t *Tally) read(reader c3po.AgentID, message c3po.Message) {
	from, n, ok := numberOf(message.Text())
	sender, to, _ := message.ID.Split()
	if !ok || sender != from {
		t.violated(Invented, message.Text(), "%s read it as %s, and nobody sends this", reader, message.ID)
		return
	}
	if to != reader {
		t.violated(Misdelivered, textOf(from, to, n), "%s read %s", reader, message.ID)
	}
	a := t.account(line{from, to})
	m := a.mark(n)
	if m.state&markAcked != 0 {
		t.violated(Returned, textOf(from, to, n), "%s was acked before", message.ID)
	}
	t.named(from, to, n, m, message.ID)
	if m.state&markRead != 0 {
		return
	}
	m.state |= markRead
	t.report.Read++
	if n < a.next {
		t.violated(Misordered, textOf(from, to, n), "it was read after %d", a.next-1)
	}
	a.next = max(a.next, n+1)
}

// named holds that a message has one id, as its sender was told and its reader saw.
func (t *Tally) named(from, to c3po.AgentID, n int, m *mark, id c3po.MessageID) {
	_, _, last := id.Split()
	hex, err := strconv.ParseUint(last, 16, 32)
	switch {
	case err != nil:
		t.violated(Invented, textOf(from, to, n), "%q is no id", id)
	case m.state&markNamed == 0:
		m.hex, m.state = uint32(hex), m.state|markNamed
	case m.hex != uint32(hex):
		t.violated(Doubled, textOf(from, to, n), "it is both %08x and %s", m.hex, id)
	}
}

func (t *Tally) account(l line) *account {
	if t.lines == nil {
		t.lines = map[line]*account{}
	}
	if t.lines[l] == nil {
		t.lines[l] = &account{}
	}
	return t.lines[l]
}

func (a *account) mark(n int) *mark {
	for len(a.marks) <= n {
		a.marks = append(a.marks, mark{})
	}
	return &a.marks[n]
}

func (t *Tally) violated(kind, value, format string, args ...any) {
	t.report.Violations = append(t.report.Violations, Violation{kind, value, fmt.Sprintf(format, args...)})
}

func textOf(from, to c3po.AgentID, n int) string {
	return NumberedText(from, n) + " to " + string(to)
}
