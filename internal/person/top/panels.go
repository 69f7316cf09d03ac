package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// soon is how long before a deadline it stands out, as in the dashboard.
const soon = 15 * time.Minute

// A column is one of a table: its heading, and how wide it is. One without a
// width takes what the others leave.
type column struct {
	title string
	width int
	names bool // whose ends tell them apart
}

// columns are those of a panel, for a screen that wide.
func columns(p panel, width int) []column {
	id := 20
	if width >= 100 {
		id = 28
	}
	switch p {
	case questions:
		return []column{{"FROM", id, true}, {title: "ASKED", width: 6}, {title: "DUE", width: 11}, {title: "FREES", width: 5}, {title: "QUESTION"}}
	case agents:
		return []column{{"AGENT", id, true}, {title: "STATE", width: 24}, {title: "MAIL IS READ", width: 16}, {title: "OPEN", width: 6}, {title: "TASK"}}
	default:
		return []column{{width: 8}, {width: 12}, {}}
	}
}

// hasTitles says whether the columns of a panel need titles.
func hasTitles(p panel) bool { return p != flow }

// row puts cells under their columns.
func row(columns []column, width int, cells []string) string {
	rest := width - 2
	for _, c := range columns {
		if c.width > 0 {
			rest -= c.width + 1
		}
	}
	parts := make([]string, len(cells))
	for i, cell := range cells {
		w := columns[i].width
		if w == 0 {
			w = rest
		}
		if columns[i].names {
			cell = abridge(cell, w)
		}
		parts[i] = fit(cell, w)
	}
	return strings.Join(parts, " ")
}

// abridge takes out the middle of a name that is too long: agents of one project
// often differ only at the end.
func abridge(name string, width int) string {
	wide := ansi.StringWidth(name)
	if wide <= width || width < 3 {
		return name
	}
	head := ansi.Truncate(name, width/2, "")
	rest := width - ansi.StringWidth(head) - 1
	return head + "…" + ansi.TruncateLeft(name, wide-rest, "")
}

// panel draws a list in so many lines: its name, the titles of its columns, and
// the rows around the chosen one.
func (m *model) panel(p panel, width, height int) []string {
	if height <= 0 {
		return nil
	}
	name := []string{"Questions", "Agents", "Flow"}[p]
	title := faint().of("── ") + bold().of(name) + " "
	if p == m.focus {
		title = cursor().of(" "+name+" ") + " "
	}
	cols := columns(p, width)
	n := m.rows(p)
	withTitles := hasTitles(p) && height > 2
	shown, all := min(n, max(0, height-1-yes(withTitles))), m.whole.rowsOf(p)
	if p != flow && shown < all {
		title += faint().of(fmt.Sprintf("%d of %d", shown, all)) + " "
	}
	lines := []string{title + faint().of(strings.Repeat("─", max(0, width-ansi.StringWidth(title))))}
	if n == 0 {
		none := nothing(p)
		if all > 0 {
			none = "no row contains “" + inline(m.filter) + "”"
		}
		return append(lines, "  "+faint().of(none))[:min(2, height)]
	}
	if withTitles {
		titles := make([]string, len(cols))
		for i, c := range cols {
			titles[i] = c.title
		}
		lines = append(lines, "  "+faint().of(row(cols, width, titles)))
	}
	space := height - len(lines)
	first := min(max(0, m.chosen[p].row-space/2), max(0, n-space))
	if p == flow && m.chosen[p].of == "" {
		first = max(0, n-space)
	}
	for i := first; i < min(n, first+space); i++ {
		mark := "  "
		if p == m.focus && i == m.chosen[p].row {
			mark = bold().of("▸ ")
		}
		lines = append(lines, mark+row(cols, width, m.cells(p, i)))
	}
	return lines
}

// nothing is what an empty list says.
func nothing(p panel) string {
	switch p {
	case questions:
		return "no agent waits for you"
	case agents:
		return "no agents yet; an agent registers with its first call"
	default:
		return "nothing has happened yet"
	}
}

// cells are those of one row, harmless.
func (m *model) cells(p panel, i int) []string {
	now := m.now()
	switch p {
	case questions:
		q := m.seen.Questions[i]
		text := strings.Join(strings.Fields(q.Text), " ") // line breaks are for the whole of it
		if q.Permits {
			text = strings.Join(sanitise.Exact(text), " ")
		} else {
			text = inline(text)
		}
		if m.seen.ReadOnly {
			text = faint().of("only a person's token shows the text")
		}
		frees := ""
		if q.Frees > 0 {
			frees = bold().of(fmt.Sprint(q.Frees))
		}
		due := dueText(now, q.Deadline)
		if q.Informs {
			due = faint().of("FYI")
		}
		switch {
		case q.Permits:
			text = warn().of("permission:") + " " + text
		case strings.Contains(strings.ToLower(text), "permission"): // its words, not ours
			text = "question: " + text
		}
		return []string{inline(string(q.From)), age(now, q.At), due, frees, text}
	case agents:
		a := m.seen.Agents[i]
		return []string{inline(string(a.ID)), m.standing(a), reach(a), unread(a), inline(a.CurrentTask)}
	default:
		e := m.seen.Events[i]
		return []string{faint().of(e.At.Local().Format("15:04:05")), kind(e.Kind), about(e)}
	}
}

// standing is what is known of an agent, and how old that is.
func (m *model) standing(a c3po.Agent) string {
	text := inline(a.Standing(m.read, m.now()))
	brief := strings.Replace(text, "last call ", "seen ", 1)
	switch {
	case a.Paused != nil && *a.Paused == c3po.PausedForHuman:
		return warn().of("asks you, " + brief)
	case a.Paused != nil:
		return warn().of("paused, " + brief)
	case a.Status != c3po.Online:
		return faint().of(text)
	case a.Availability == c3po.Busy, a.Availability == c3po.Away:
		return string(a.Availability) + ", " + brief
	case a.State == c3po.SessionDialog, a.State == c3po.SessionFailed, a.State == c3po.SessionOff, a.State == c3po.SessionUnknown:
		return warn().of(text)
	default:
		return good().of(text)
	}
}

// reach says when mail that is sent now is read.
func reach(a c3po.Agent) string {
	switch a.Reachability {
	case c3po.ReachNow:
		return good().of("now")
	case c3po.ReachNextStep:
		return "at next step"
	case c3po.ReachSoon:
		return "in a minute"
	case c3po.ReachNextCall:
		return "at next call"
	case c3po.ReachQuota:
		return warn().of("out of quota")
	case c3po.ReachRetry:
		return warn().of("at next try")
	case c3po.ReachPersonReturns:
		return warn().of("person back") // it is idle, and nothing can wake it
	case c3po.ReachResumed, c3po.ReachOff:
		return warn().of(a.Reachability.When())
	case c3po.ReachWaitingForHuman:
		return warn().of("once answered")
	case c3po.ReachDialog:
		return warn().of("dialog open")
	case c3po.ReachNextSession:
		return warn().of("next session")
	case c3po.ReachUnknown:
		return warn().of("unknown")
	case c3po.ReachStarts:
		return "mail starts it"
	case c3po.ReachOffline:
		return faint().of("when started")
	default:
		return inline(string(a.Reachability))
	}
}

func unread(a c3po.Agent) string {
	switch {
	case a.Unread == nil:
		return "?"
	case *a.Unread == 0:
		return faint().of("0")
	default:
		return bold().of(fmt.Sprint(*a.Unread))
	}
}

// age is how long ago something was, in at most four columns.
func age(now, then time.Time) string {
	if then.IsZero() {
		return "never"
	}
	return span(now.Sub(then))
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
}

func dueText(now, deadline time.Time) string {
	switch {
	case deadline.IsZero():
		return faint().of("-")
	case !deadline.After(now):
		return bad().of("overdue " + span(now.Sub(deadline)))
	case deadline.Sub(now) <= soon:
		return warn().of(span(deadline.Sub(now)) + " left")
	default:
		return span(deadline.Sub(now)) + " left"
	}
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}

func kind(k c3po.EventKind) string {
	switch k {
	case c3po.EventDead, c3po.EventRollback, c3po.EventDied, c3po.EventTimedOut:
		return bad().of(inline(string(k)))
	case c3po.EventAnswered, c3po.EventRegistered, c3po.EventResumed:
		return good().of(inline(string(k)))
	case c3po.EventPaused, c3po.EventUnregistered, c3po.EventCancelled, c3po.EventRetired:
		return warn().of(inline(string(k)))
	default:
		return inline(string(k))
	}
}

// about is who an event is about.
func about(e c3po.Event) string {
	from, to, _ := e.ID.Split()
	switch {
	case e.ID != "" && from != "":
		return inline(string(from)) + faint().of(" → ") + inline(string(to))
	case e.Agent != "" && e.Room != "":
		return inline(string(e.Agent)) + faint().of(" in ") + inline(string(e.Room))
	case e.Agent != "":
		return inline(string(e.Agent))
	case e.Room != "":
		return inline(string(e.Room))
	case e.Kind == c3po.EventPosted:
		return faint().of("in a private room")
	default:
		return "everybody"
	}
}
