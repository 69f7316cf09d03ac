package top

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// detail is the chosen row in full: what is known of it, and what was said.
func (m *model) detail(height int) []string {
	switch m.mode {
	case answering:
		return m.questionAsked()
	case writing:
		return []string{"", bold().of("Message to " + inline(string(m.to))), "", faint().of("Your message:"), m.inputLine()}
	}
	all := m.rowFacts()
	m.scroll = min(m.scroll, max(0, len(all)-height))
	return all[m.scroll:]
}

func (m *model) rowFacts() []string {
	c := m.chosen[m.focus]
	if c.row >= m.rows(m.focus) {
		return nil
	}
	switch m.focus {
	case questions:
		return nil
	case agents:
		return m.agentFacts(m.seen.Agents[c.row])
	default:
		return m.eventFacts(m.seen.Events[c.row])
	}
}

// facts are lines of a name and a value, those without a value left out.
func facts(title string, pairs ...[2]string) []string {
	lines := []string{"", bold().of(title), ""}
	for _, pair := range pairs {
		if pair[1] != "" {
			lines = append(lines, "  "+faint().of(fit(pair[0], 14))+" "+pair[1])
		}
	}
	return lines
}

func (m *model) agentFacts(a c3po.Agent) []string {
	paused, alive := "", ""
	if a.Paused != nil {
		paused = inline(*a.Paused)
	}
	if a.Alive != nil && !*a.Alive {
		alive = bad().of("its process has ended")
	}
	var rooms []string
	for _, room := range a.Rooms {
		rooms = append(rooms, inline(string(room)))
	}
	return facts("Agent "+inline(string(a.ID)),
		[2]string{"state", m.standing(a)}, [2]string{"says it is", inline(string(a.Availability))}, [2]string{"paused", paused},
		[2]string{"process", alive}, [2]string{"mail is read", reach(a)}, [2]string{"open mail", unread(a)},
		[2]string{"seen", age(m.now(), a.LastSeen) + " ago"}, [2]string{"task", inline(a.CurrentTask)},
		[2]string{"type", inline(a.Type)}, [2]string{"client", inline(a.Client)}, [2]string{"host", inline(a.Host)},
		[2]string{"folder", inline(a.Cwd)}, [2]string{"helps with", inline(strings.Join(a.Capabilities, ", "))},
		[2]string{"rooms", strings.Join(rooms, ", ")})
}

func (m *model) eventFacts(e c3po.Event) []string {
	return facts("Event "+inline(string(e.Kind)),
		[2]string{"at", e.At.Local().Format("2006-01-02 15:04:05")}, [2]string{"about", about(e)},
		[2]string{"message", inline(string(e.ID))}, [2]string{"room", inline(string(e.Room))}, [2]string{"coordinator", inline(e.Node)})
}

// questionAsked is one question and, at the end, the line its answer is written in.
func (m *model) questionAsked() []string {
	q := m.asked
	about := ", asked " + age(m.now(), q.At) + " ago"
	if !q.Deadline.IsZero() {
		about += ", " + dueText(m.now(), q.Deadline)
	}
	title := "Question of "
	if q.Permits {
		title = "Permission for "
	}
	all := []string{"", bold().of(title+inline(string(q.From))) + faint().of(about), ""}
	text := m.questionText()
	from := min(m.scroll, len(text))
	all = append(all, text[from:min(len(text), from+m.questionSpace())]...)
	all = append(all, "")
	for i, choice := range q.Choices {
		all = append(all, fmt.Sprintf("  %s %s", bold().of(strconv.Itoa(i+1)), inline(choice)))
	}
	ask := "Your answer:"
	if len(q.Choices) > 0 {
		all, ask = append(all, ""), "Your answer, or the number of a choice:"
	}
	if q.Permits {
		ask = "The number of a choice. Your words deny it, and the agent reads them:"
	}
	return append(all, faint().of(ask), m.inputLine())
}

// questionText is what is asked and why, in lines that fit, each behind a gutter.
func (m *model) questionText() []string {
	text := m.wrapped(m.asked.Text)
	if m.asked.Permits {
		text = m.fitted(sanitise.Exact(m.asked.Text))
	}
	if m.asked.Why == "" {
		return text
	}
	return append(append(text, m.wrapped("")...), m.wrapped(m.asked.Why)...)
}

// questionSpace is how many of these lines there is room for.
func (m *model) questionSpace() int { return max(1, m.height-10-len(m.asked.Choices)) }

// inputLine is the end of the line that is written, with its cursor.
func (m *model) inputLine() string {
	before, after := inline(string(m.line.before)), inline(string(m.line.after))
	room := max(1, m.width-4)
	if w := ansi.StringWidth(before); w > room-1 {
		before = "…" + ansi.TruncateLeft(before, w-room+2, "")
	}
	under, rest := cmp.Or(firstCell(after), " "), ""
	if after != "" {
		rest = strings.TrimPrefix(after, under)
	}
	return bold().of("> ") + before + cursor().of(under) + rest
}

// firstCell is what stands under the cursor.
func firstCell(text string) string {
	for _, r := range text {
		return string(r)
	}
	return ""
}

func (m *model) help() []string {
	return []string{
		"", bold().of("Keys"), "",
		"  Tab, Shift+Tab, 1-3   next list, the one before, the list of that place",
		"  ↑ ↓, j k, PgUp PgDn   choose a row; Home and End go to the first and last",
		"  Enter                 the row in full; a question, to answer it",
		"  w                     write to the chosen agent",
		"  p                     pause the chosen agent or resume it",
		"  /                     show only rows that contain a word; Esc shows all",
		"  q                     quit", "",
		bold().of("What the words say"), "",
		"  STATE                 what its session does and for how long, or when the",
		"                        agent was last seen; old news says its age",
		"  MAIL IS READ          when an agent reads what is sent to it now",
		"  asks you              it has asked you and waits for the answer",
		"  OPEN                  mail it has not acked yet",
		"  FREES                 how many agents wait behind who asks",
	}
}
