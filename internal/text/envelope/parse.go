package envelope

import (
	"regexp"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// A Delivery is one message read back from an answer.
type Delivery struct {
	Mark     string
	Header   string // without the mark
	Text     string
	Context  string
	Metadata string
	Files    []string // their names
}

var (
	opening = regexp.MustCompile(`^\[c3po ([0-9a-f]{6})\] (.*)$`)
	label   = regexp.MustCompile(`^\[(context|metadata|end|file|files)(?: [0-9]+)? ([0-9a-f]{6})\]`)
)

// Parse reads the messages of an answer back, with their text as it was sent.
// Lines of ours outside a message are passed over; a message that does not end,
// or holds a line that is neither ours nor behind the gutter, is refused.
func Parse(answer string) ([]Delivery, error) {
	var all []Delivery
	var open *section
	for line := range strings.SplitSeq(answer, "\n") {
		if open == nil {
			if parts := opening.FindStringSubmatch(line); parts != nil {
				open = &section{Delivery: Delivery{Mark: parts[1], Header: parts[2]}}
				open.into = &open.Text
			}
			continue
		}
		if body, ok := strings.CutPrefix(line, gutter); ok {
			open.lines = append(open.lines, body)
			continue
		}
		parts := label.FindStringSubmatch(line)
		if parts == nil || parts[2] != open.Mark {
			return nil, c3po.Errorf(c3po.InvalidRequest, "a line of a message is outside its gutter").
				Suggest("Read the messages again.")
		}
		open.close()
		switch parts[1] {
		case "context":
			open.into = &open.Context
		case "metadata":
			open.into = &open.Metadata
		case "file":
			open.Files = append(open.Files, "")
			open.into = &open.Files[len(open.Files)-1]
		case "files":
			open.into = new(string) // of ours, and no text follows
		case "end":
			all = append(all, open.Delivery)
			open = nil
		}
	}
	if open != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "a message does not end").Suggest("Read the messages again.")
	}
	return all, nil
}

// section is a delivery while it is read.
type section struct {
	Delivery
	into  *string
	lines []string
}

func (s *section) close() {
	*s.into = carriedText(s.lines)
	s.lines = nil
}
