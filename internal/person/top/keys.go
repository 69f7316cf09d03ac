package top

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/c3po-dev/c3po/c3po"
)

// key does what a key is for.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	switch m.mode {
	case answering:
		return m.answerKey(k)
	case reading:
		return m.readKey(k)
	case helping:
		m.mode = listing // whatever was pressed
		return nil
	case writing:
		return m.writeKey(k)
	case filtering:
		m.filterKey(k)
		return nil
	case confirming:
		return m.confirmKey(k)
	default:
		return m.listKey(k)
	}
}

func (m *model) listKey(k tea.KeyPressMsg) tea.Cmd {
	m.word = ""
	switch k.String() {
	case "q":
		return tea.Quit
	case "?":
		m.mode = helping
	case "tab", "right", "l":
		m.focus = (m.focus + 1) % panels
	case "shift+tab", "left", "h":
		m.focus = (m.focus + panels - 1) % panels
	case "1", "2", "3":
		m.focus = panel(k.String()[0] - '1')
	case "/":
		m.mode, m.line = filtering, line{before: []rune(m.filter)}
	case "esc":
		m.filter = ""
		m.settle()
	case "w":
		m.write()
	case "down", "j":
		m.move(1)
	case "up", "k":
		m.move(-1)
	case "pgdown":
		m.move(10)
	case "pgup":
		m.move(-10)
	case "home", "g":
		m.move(-m.rows(m.focus))
	case "end", "G":
		m.move(m.rows(m.focus))
	case "enter":
		m.show()
	case "p":
		m.pauseOrResume()
	}
	return nil
}

func (m *model) move(by int) {
	n := m.rows(m.focus)
	if n == 0 {
		return
	}
	c := &m.chosen[m.focus]
	c.row = min(max(0, c.row+by), n-1)
	c.of = m.name(m.focus, c.row)
	if m.focus == flow && c.row == n-1 {
		c.of = "" // the newest, whichever that is
	}
}

// show shows the chosen row in full; a question with a line for its answer.
func (m *model) show() {
	m.scroll = 0
	switch {
	case m.rows(m.focus) == 0:
	case m.focus != questions:
		m.mode = reading
	case m.seen.ReadOnly:
		m.mayNot()
	default:
		m.asked, _ = m.question()
		m.mode, m.line = answering, line{}
	}
}

// readKey moves through the text of a row; any other key goes back.
func (m *model) readKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "down", "j":
		m.scroll++
	case "up", "k":
		m.scroll = max(0, m.scroll-1)
	case "pgdown":
		m.scroll += 10
	case "pgup":
		m.scroll = max(0, m.scroll-10)
	case "w":
		m.write()
	default:
		m.mode = listing
	}
	return nil
}

// write begins a message to the chosen agent.
func (m *model) write() {
	a, chosen := m.agent()
	switch {
	case m.seen.ReadOnly:
		m.mayNot()
	case m.focus != agents || !chosen:
		m.say("Choose an agent first: 2 goes to the list of them.", true)
	default:
		m.mode, m.to, m.line = writing, a.ID, line{}
	}
}

func (m *model) writeKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		m.mode, m.word = listing, ""
	case "enter":
		if m.line.text() == "" {
			m.say("Write the message first, or press Esc.", true)
			return nil
		}
		m.mode = listing
		m.say("Sending to "+string(m.to)+"…", false)
		return m.act(act{send: &c3po.SendInput{Target: string(m.to), Message: m.line.text()}})
	default:
		m.line.key(k)
		m.word = ""
	}
	return nil
}

// filterKey shows what is left with every key.
func (m *model) filterKey(k tea.KeyPressMsg) {
	switch k.String() {
	case "esc":
		m.mode, m.filter = listing, ""
	case "enter":
		m.mode = listing
	default:
		m.line.key(k)
		m.filter = m.line.text()
	}
	m.settle()
}

func (m *model) mayNot() { m.say("Your token may only look. A person's may answer and pause.", true) }

func (m *model) answerKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		m.mode, m.word = listing, ""
	case "down":
		m.scroll = min(m.scroll+1, max(0, len(m.questionText())-m.questionSpace()))
	case "up":
		m.scroll = max(0, m.scroll-1)
	case "enter":
		return m.answer()
	default:
		m.line.key(k)
		if m.open(m.asked) {
			m.word = ""
		}
	}
	return nil
}

// answer sends what was written.
func (m *model) answer() tea.Cmd {
	switch text := m.line.text(); {
	case !m.open(m.asked):
		m.showQuestionClosed()
		return nil
	case text == "":
		m.say("Write the answer first, or press Esc.", true)
		return nil
	default:
		in := c3po.AnswerInput{MessageID: m.asked.ID, Response: text}
		if n, isNumber := c3po.ChoiceNumber(text); isNumber && len(m.asked.Choices) > 0 {
			if n < 1 || n > len(m.asked.Choices) {
				m.say(fmt.Sprintf("There is no choice %s; type a number from 1 to %d, or a text.", text, len(m.asked.Choices)), true)
				return nil
			}
			in.Response, in.Choice = "", m.asked.Choices[n-1]
		}
		m.mode = listing
		m.say("Answering "+string(m.asked.From)+"…", false)
		return m.act(act{answer: &in})
	}
}

// pauseOrResume turns the pause of the chosen agent around.
func (m *model) pauseOrResume() {
	a, ok := m.agent()
	if m.focus != agents || !ok {
		m.say("Choose an agent first: 2 goes to the list of them.", true)
		return
	}
	if m.seen.ReadOnly {
		m.mayNot()
		return
	}
	if a.Paused != nil {
		m.ask("Resume "+string(a.ID)+"?", "Resuming "+string(a.ID)+"…", act{resume: &c3po.PauseInput{AgentID: string(a.ID)}})
	} else {
		m.ask("Pause "+string(a.ID)+"?", "Pausing "+string(a.ID)+"…", act{pause: &c3po.PauseInput{AgentID: string(a.ID)}})
	}
}

// ask has an act of one key confirmed: a line that was pasted for the shell does nothing.
func (m *model) ask(question, doing string, unsure act) {
	m.mode, m.unsure, m.doing = confirming, unsure, doing
	m.say(question+" Shift+Y does it, any other key does not.", false)
}

func (m *model) confirmKey(k tea.KeyPressMsg) tea.Cmd {
	m.mode, m.word = listing, ""
	if k.String() != "Y" {
		return nil
	}
	m.say(m.doing, false)
	return m.act(m.unsure)
}

// A line is a text that is being written.
type line struct {
	before, after []rune // the cursor
}

func (l *line) text() string { return string(l.before) + string(l.after) }

func (l *line) insert(text string) { l.before = append(l.before, []rune(text)...) }

func (l *line) key(k tea.KeyPressMsg) {
	switch k.String() {
	case "backspace":
		l.before = l.before[:max(0, len(l.before)-1)]
	case "delete":
		l.after = l.after[min(1, len(l.after)):]
	case "left":
		if n := len(l.before); n > 0 {
			l.after = append([]rune{l.before[n-1]}, l.after...)
			l.before = l.before[:n-1]
		}
	case "right":
		if len(l.after) > 0 {
			l.before = append(l.before, l.after[0])
			l.after = l.after[1:]
		}
	case "home", "ctrl+a":
		l.before, l.after = nil, []rune(l.text())
	case "end", "ctrl+e":
		l.before, l.after = []rune(l.text()), nil
	case "ctrl+u":
		l.before = nil
	case "ctrl+w":
		n := len(l.before)
		for n > 0 && l.before[n-1] == ' ' {
			n--
		}
		for n > 0 && l.before[n-1] != ' ' {
			n--
		}
		l.before = l.before[:n]
	case "alt+enter", "ctrl+j", "shift+enter":
		l.insert("\n")
	default:
		l.insert(k.Text)
	}
}
