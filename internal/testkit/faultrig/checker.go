package faultrig

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// The kinds of Violation.
const (
	Lost         = "lost"         // stored, as its sender was told, and never read
	Doubled      = "doubled"      // one send, two messages
	Invented     = "invented"     // read, but never sent, or its sender was told that it was not stored
	Misdelivered = "misdelivered" // read by somebody else than the recipient
	Returned     = "returned"     // read again after its reader was told that it was acked
	Misordered   = "misordered"   // read after one that was sent later
)

// A Violation is one broken promise.
type Violation struct {
	Kind   string
	Value  string // of the send it is about
	Detail string
}

func (v Violation) String() string { return fmt.Sprintf("%s %q: %s", v.Kind, v.Value, v.Detail) }

// A Report is what a history shows.
type Report struct {
	Sends      int // different messages that were tried
	Stored     int // of these, whose senders were told so
	InDoubt    int // of these, whose senders were told neither
	Read       int // different messages that were read
	Violations []Violation
}

// Count is the number of violations of a kind.
func (r Report) Count(kind string) int {
	n := 0
	for _, v := range r.Violations {
		if v.Kind == kind {
			n++
		}
	}
	return n
}

func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d sends, %d stored, %d in doubt, %d read", r.Sends, r.Stored, r.InDoubt, r.Read)
	for _, kind := range []string{Lost, Doubled, Invented, Misdelivered, Returned, Misordered} {
		fmt.Fprintf(&b, ", %d %s", r.Count(kind), kind)
	}
	const most = 10
	for i, v := range r.Violations {
		if i == most {
			fmt.Fprintf(&b, "\n  … and %d more", len(r.Violations)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s", v)
	}
	return b.String()
}

// A sent is all attempts of one value, and what came of them.
type sent struct {
	from, to c3po.AgentID
	priority c3po.Priority
	invoked  time.Time // the first attempt
	returned time.Time // the last one; zero if one never came back
	outcome  Outcome
	ids      []c3po.MessageID // it was stored or read under; more than one is one too many
	read     bool
}

// A stream is what must keep its order.
type stream struct {
	from, to c3po.AgentID
	priority c3po.Priority
}

// Check reads a history that ends with everything drained: whatever was stored
// must have been read. It takes time in proportion to the history.
func Check(history []Call) Report {
	c := checker{sends: map[string]*sent{}, acked: map[c3po.MessageID]time.Time{}, newest: map[stream]time.Time{}}
	var order []string
	for _, call := range history {
		if call.Op == opSend && c.addSend(call) {
			order = append(order, call.Value)
		}
	}
	for _, call := range history {
		switch {
		case call.Op == opAck && call.Outcome == OK:
			for _, m := range call.Got {
				if _, known := c.acked[m.ID]; !known {
					c.acked[m.ID] = call.Returned
				}
			}
		case call.Op == opRead && call.Outcome == OK:
			for _, m := range call.Got {
				c.addRead(call, m)
			}
		}
	}
	for _, value := range order {
		c.close(value, c.sends[value])
	}
	return c.report
}

type checker struct {
	report Report
	sends  map[string]*sent
	acked  map[c3po.MessageID]time.Time // when the reader knew
	// newest is when the latest send of a stream, of those that were read so
	// far, was made.
	newest map[stream]time.Time
}

func (c *checker) violated(kind, value, format string, args ...any) {
	c.report.Violations = append(c.report.Violations, Violation{Kind: kind, Value: value, Detail: fmt.Sprintf(format, args...)})
}

// addSend takes one attempt, and reports whether it is the first of its value.
func (c *checker) addSend(call Call) (first bool) {
	s := c.sends[call.Value]
	if s == nil {
		first = true
		s = &sent{from: call.Agent, to: call.To, priority: call.Priority, invoked: call.Invoked, outcome: Failed}
		c.sends[call.Value] = s
	}
	s.returned = call.Returned
	switch {
	case call.Outcome == OK:
		s.outcome = OK
		for _, m := range call.Got {
			c.stored(call.Value, s, m.ID)
		}
	case call.Outcome != Failed && s.outcome != OK:
		s.outcome = Unknown
	}
	return first
}

func (c *checker) stored(value string, s *sent, id c3po.MessageID) {
	for _, known := range s.ids {
		if known == id {
			return
		}
	}
	s.ids = append(s.ids, id)
	if len(s.ids) > 1 {
		c.violated(Doubled, value, "it is both %s and %s", s.ids[0], id)
	}
}

func (c *checker) addRead(call Call, m Seen) {
	s := c.sends[m.Value]
	if s == nil {
		c.violated(Invented, m.Value, "%s read it as %s, and nobody sent it", call.Agent, m.ID)
		return
	}
	if s.to != call.Agent {
		c.violated(Misdelivered, m.Value, "%s read it, it was for %s", call.Agent, s.to)
	}
	// Only what was known before the reading began: an ack may be under way.
	if at, known := c.acked[m.ID]; known && at.Before(call.Invoked) {
		c.violated(Returned, m.Value, "%s was acked %s before", m.ID, call.Invoked.Sub(at))
	}
	c.stored(m.Value, s, m.ID)
	if s.read {
		return
	}
	s.read = true
	c.report.Read++
	if s.outcome == Failed {
		c.violated(Invented, m.Value, "%s read it as %s, and its sender was told that it was not stored", call.Agent, m.ID)
	}
	// Two sends that overlap have no order, and one in doubt may happen late.
	if s.outcome != OK {
		return
	}
	key := stream{s.from, s.to, s.priority}
	if newest := c.newest[key]; s.returned.Before(newest) {
		c.violated(Misordered, m.Value, "%s read it after one that was sent %s later", call.Agent, newest.Sub(s.returned))
	}
	if s.invoked.After(c.newest[key]) {
		c.newest[key] = s.invoked
	}
}

func (c *checker) close(value string, s *sent) {
	c.report.Sends++
	switch s.outcome {
	case OK:
		c.report.Stored++
		if !s.read {
			c.violated(Lost, value, "%s was told that it is stored as %s, %s never read it", s.from, s.ids, s.to)
		}
	case Unknown, Open:
		c.report.InDoubt++
	}
}
