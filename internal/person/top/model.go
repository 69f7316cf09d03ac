package top

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/c3po-dev/c3po/c3po"
)

// A panel is one of the lists on the screen.
type panel int

// The panels, in the order in which Tab goes through them.
const (
	questions panel = iota
	agents
	flow
	panels
)

// A mode is what the keys are for.
type mode int

const (
	listing    mode = iota // the lists
	reading                // one row, in full
	answering              // one question, and a line to write the answer
	helping                // what the keys do
	writing                // a line to write to an agent
	filtering              // a line to write what rows must contain
	confirming             // an act that waits for a Y
)

// A model is the view at one time.
type model struct {
	whole Snapshot
	seen  Snapshot  // what of it the filter lets through
	read  time.Time // when its lists were
	url   string
	now   func() time.Time
	act   func(act) tea.Cmd // starts an act
	touch func()            // has the state read again; nothing if nil

	width, height int
	focus         panel
	chosen        [panels]choice
	mode          mode
	asked         Question     // while it is answered
	line          line         // the answer
	scroll        int          // of the question's text, or of the row's
	to            c3po.AgentID // who is written to
	filter        string
	unsure        act    // while it is confirmed
	doing         string // what the screen says once it is

	lostAt time.Time // when the coordinator was lost; zero while it is there
	word   string    // the last thing that was done, or went wrong
	wrong  bool
}

// A choice is the row that is chosen in a panel. It follows what it was of,
// wherever that moves to.
type choice struct {
	row int
	of  string
}

func newModel(first Snapshot, url string, now func() time.Time) *model {
	m := &model{whole: first, seen: first, read: now(), url: url, now: now, width: 80, height: 24}
	if len(first.Questions) == 0 {
		m.focus = agents
	}
	m.settle()
	return m
}

// tickMsg moves the clock on.
type tickMsg struct{}

func tick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} }) }

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tick() }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tickMsg:
		return m, tick()
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case seenMsg:
		was := m.whole
		m.whole, m.read, m.lostAt = Snapshot(msg), m.now(), time.Time{}
		m.whole.Space, m.whole.Events = was.Space, was.Events
		m.settle()
	case flowMsg:
		m.whole.Events = newest(append(m.whole.Events, msg...))
		m.settle()
	case gapMsg:
		m.say("Events are missing in the flow; the lists are right.", true)
	case linkMsg:
		m.link(msg.lost)
	case failedMsg:
		m.showError(msg.err)
	case doneMsg:
		m.finish(msg)
	case tea.PasteMsg:
		if m.mode == answering || m.mode == writing {
			m.line.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

func (m *model) link(lost bool) {
	switch {
	case !lost:
		m.lostAt = time.Time{}
	case m.lostAt.IsZero():
		m.lostAt = m.now()
	}
}

// showError keeps what was seen last. That nobody answered is said by the link.
func (m *model) showError(err error) {
	if errors.Is(err, c3po.CoordDown) {
		m.link(true)
		return
	}
	m.say(c3po.AsError(err).Message, true)
}

func (m *model) finish(msg doneMsg) {
	if msg.err != nil {
		m.say(c3po.AsError(msg.err).Message, true)
	} else {
		m.say(msg.said, false)
	}
	if m.touch != nil {
		m.touch()
	}
}

func (m *model) say(word string, wrong bool) { m.word, m.wrong = word, wrong }

// settle puts each choice back on the row it was on. The flow is followed at
// its end unless a row of it was chosen.
func (m *model) settle() {
	m.seen = m.whole
	if m.filter != "" {
		m.seen = m.whole.filtered(m.filter)
	}
	if m.mode == answering && !m.open(m.asked) {
		m.showQuestionClosed()
	}
	for p := range panels {
		c, n := &m.chosen[p], m.rows(p)
		found := false
		for i := 0; i < n && c.of != ""; i++ {
			if m.name(p, i) == c.of {
				c.row, found = i, true
				break
			}
		}
		if p == flow && !found {
			c.row = n - 1
		}
		c.row = min(max(0, c.row), max(0, n-1))
		if !found && p != flow && n > 0 {
			c.of = m.name(p, c.row)
		}
	}
}

func (m *model) rows(p panel) int { return m.seen.rowsOf(p) }

func (s *Snapshot) rowsOf(p panel) int {
	switch p {
	case questions:
		return len(s.Questions)
	case agents:
		return len(s.Agents)
	default:
		return len(s.Events)
	}
}

// name is what a row is of.
func (m *model) name(p panel, row int) string {
	switch p {
	case questions:
		return string(m.seen.Questions[row].ID)
	case agents:
		return string(m.seen.Agents[row].ID)
	default:
		e := m.seen.Events[row]
		return c3po.EventCursor{Epoch: 1, Seq: e.Seq}.String()
	}
}

// open says whether a question still waits.
func (m *model) open(question Question) bool {
	return slices.ContainsFunc(m.whole.Questions, func(q Question) bool { return q.ID == question.ID })
}

// showQuestionClosed says that the question that is being answered no longer waits. It stays
// on the screen: what is typed on must not be taken for keys of the lists.
func (m *model) showQuestionClosed() { m.say("This question is no longer open. Esc goes back.", true) }

// question is the one that is chosen.
func (m *model) question() (Question, bool) {
	for _, q := range m.seen.Questions {
		if string(q.ID) == m.chosen[questions].of {
			return q, true
		}
	}
	return Question{}, false
}

// agent is the one that is chosen.
func (m *model) agent() (c3po.Agent, bool) {
	for _, a := range m.seen.Agents {
		if string(a.ID) == m.chosen[agents].of {
			return a, true
		}
	}
	return c3po.Agent{}, false
}
