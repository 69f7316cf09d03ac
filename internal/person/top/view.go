package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

const (
	// wide is how many columns the flow has beside the rest; in fewer it is below.
	wide = 140
	// flowWidth is what it takes of them.
	flowWidth = 64
)

// A look is how a text of ours stands out. What others wrote never decides it.
type look struct{ style lipgloss.Style }

func bold() look   { return look{lipgloss.NewStyle().Bold(true)} }
func faint() look  { return look{lipgloss.NewStyle().Faint(true)} }
func good() look   { return look{lipgloss.NewStyle().Foreground(lipgloss.Green)} }
func warn() look   { return look{lipgloss.NewStyle().Foreground(lipgloss.Yellow)} }
func bad() look    { return look{lipgloss.NewStyle().Foreground(lipgloss.Red)} }
func alarm() look  { return look{lipgloss.NewStyle().Bold(true).Reverse(true).Foreground(lipgloss.Red)} }
func cursor() look { return look{lipgloss.NewStyle().Reverse(true)} }

func (l look) of(text string) string {
	if text == "" {
		return ""
	}
	return l.style.Render(text)
}

// inline makes what others wrote fit into one of our lines.
func inline(text string) string { return sanitise.Inline(text) }

// fit is a text in exactly so many columns. A text that is cut says so.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	return v
}

// screen is every line of the screen, each as wide as it is.
func (m *model) screen() []string {
	var middle []string
	height := max(0, m.height-3)
	switch m.mode {
	case reading, answering, writing:
		middle = m.detail(height)
	case helping:
		middle = m.help()
	default:
		middle = m.lists(height)
	}
	for len(middle) < height {
		middle = append(middle, "")
	}
	all := append([]string{m.title(), m.summary()}, middle[:height]...)
	all = append(all, m.footer())
	for i := range all {
		all[i] = fit(all[i], m.width)
	}
	return all[:min(len(all), max(1, m.height))]
}

// title says where this is and whether it is live.
func (m *model) title() string {
	left := bold().of("c3po") + " " + inline(string(m.seen.Space)) + "  "
	switch {
	case !m.lostAt.IsZero():
		left += alarm().of(" NOT LIVE ") + " " + bad().of("no answer since "+m.lostAt.Local().Format("15:04:05")+", trying again")
	default:
		left += good().of("live")
	}
	if m.seen.ReadOnly {
		left += "  " + warn().of("read-only")
	}
	clock := m.now().Local().Format("15:04:05")
	right := clock
	if room := m.width - ansi.StringWidth(left) - len(clock) - 4; room >= len(m.url) {
		right = faint().of(inline(m.url)) + "  " + clock
	}
	return fit(left, m.width-ansi.StringWidth(right)-1) + " " + right
}

// summary is the state of the space in numbers.
func (m *model) summary() string {
	online, unread, known := 0, 0, false
	for _, a := range m.whole.Agents {
		if a.Status == c3po.Online {
			online++
		}
		if a.Unread != nil {
			unread, known = unread+*a.Unread, true
		}
	}
	reset := ""
	if at := m.whole.PasskeysEnd; !at.IsZero() {
		reset = alarm().of(" All passkeys are forgotten at "+at.Local().Format("15:04")+" unless you use one: c3po open ") + " "
	}
	asks := m.whole.stateOfThings(m.now())
	if len(m.whole.Questions) > 0 {
		asks = warn().of(asks)
	}
	text := reset + fmt.Sprintf("%s · %d of %d %s online · %d open %s", asks, online, len(m.whole.Agents), plural(len(m.whole.Agents), "agent", "agents"),
		len(m.whole.Tickets), plural(len(m.whole.Tickets), "ticket", "tickets"))
	if known {
		text += fmt.Sprintf(" · %d open %s", unread, plural(unread, "message", "messages"))
	}
	if m.seen.More {
		text += " · more than is shown"
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// footer is what was last done, or the keys that are of use now.
func (m *model) footer() string {
	if m.mode == filtering {
		return "Rows that contain: " + m.inputLine()
	}
	if m.word != "" {
		if m.wrong {
			return bad().of(inline(m.word))
		}
		return good().of(inline(m.word))
	}
	return faint().of(m.keysNow())
}

func (m *model) keysNow() string {
	switch m.mode {
	case answering:
		return "Enter send  Alt+Enter new line  ↑↓ read on  Esc back"
	case writing:
		return "Enter send  Alt+Enter new line  Esc back"
	case reading:
		return "↑↓ read on  Esc back"
	case helping:
		return "Esc back"
	}
	keys := "Tab next list  ↑↓ choose  "
	if m.filter != "" {
		keys = "rows with “" + inline(m.filter) + "”, Esc all  "
	}
	switch {
	case m.focus == questions && m.seen.ReadOnly:
	case m.focus == questions:
		keys += "Enter answer  "
	case m.focus == agents && !m.seen.ReadOnly:
		keys += "Enter details  w write  p " + m.pauseWord() + "  "
	default:
		keys += "Enter details  "
	}
	return keys + "/ filter  ? help  q quit"
}

// pauseWord is what p does to the chosen agent.
func (m *model) pauseWord() string {
	switch a, ok := m.agent(); {
	case ok && a.Paused != nil:
		return "resume"
	default:
		return "pause"
	}
}

// lists is all panels: below each other, or with the flow beside the rest.
func (m *model) lists(height int) []string {
	if m.width < wide {
		share := m.shares(height, []panel{questions, agents, flow})
		var all []string
		for p := questions; p <= flow; p++ {
			all = append(all, m.panel(p, m.width, share[p])...)
		}
		return all
	}
	left := m.width - flowWidth - 3
	share := m.shares(height, []panel{questions, agents})
	var rows []string
	for p := questions; p < flow; p++ {
		rows = append(rows, m.panel(p, left, share[p])...)
	}
	beside := m.panel(flow, flowWidth, height)
	all := make([]string, height)
	for i := range all {
		var l, r string
		if i < len(rows) {
			l = rows[i]
		}
		if i < len(beside) {
			r = beside[i]
		}
		all[i] = fit(l, left) + faint().of(" │ ") + fit(r, flowWidth)
	}
	return all
}

// shares divides lines among panels: each has a heading and a line, then those
// that are short have what they need and the others the rest in equal parts.
func (m *model) shares(height int, among []panel) [panels]int {
	var share, need [panels]int
	left := height
	for _, p := range among {
		need[p] = 1 + max(1, m.rows(p))
		if hasTitles(p) && m.rows(p) > 0 {
			need[p]++
		}
		share[p] = min(2, left)
		left -= share[p]
	}
	for given := true; left > 0 && given; {
		given = false
		for _, p := range among {
			if left > 0 && share[p] < need[p] {
				share[p]++
				left--
				given = true
			}
		}
	}
	share[among[len(among)-1]] += left // what nobody needs
	return share
}
