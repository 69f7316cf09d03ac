package ptyrun

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// historyRows is how much of what has scrolled off is kept: more than an answer
// of the largest size has on a usual terminal.
const historyRows = 2000

// A screen knows what the program shows, by the same rules as a terminal.
type screen struct {
	emulator *vt.Emulator
	paste    bool // the program takes pastes in brackets
	lost     bool // the emulator failed: nothing is known any more
	behind   flow // printed, and not yet taken in
	drawing  bool // the last output did more than flow; it may end in the middle of a sequence
	margins  margins
}

// margins says what keeps text from flowing over the whole screen: then not only
// its end is seen, and nothing may be forgotten. It errs to that side.
type margins struct {
	rows, rowsAlternate bool // of each of the two screens
	columns             bool // once set, for good: hardly a program sets them
}

func newScreen(size size) *screen {
	s := &screen{emulator: vt.NewEmulator(size.columns, size.rows)}
	s.emulator.SetScrollbackSize(historyRows)
	s.emulator.SetCallbacks(vt.Callbacks{
		EnableMode:  func(mode ansi.Mode) { s.paste = s.paste || mode == ansi.ModeBracketedPaste },
		DisableMode: func(mode ansi.Mode) { s.paste = s.paste && mode != ansi.ModeBracketedPaste },
	})
	s.emulator.RegisterCsiHandler('r', s.rowMargins)
	s.emulator.RegisterCsiHandler('s', s.columnMargins)
	// It answers the program's questions about the terminal, as the real one does
	// too. Unread, they would hold it up.
	go func() { _, _ = io.Copy(io.Discard, s.emulator) }()
	return s
}

func (s *screen) close() {
	if pipe, ok := s.emulator.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
}

// rowMargins sees that a program sets the rows that scroll. A terminal takes a
// last row beyond its own as its own, and the emulator does not: its cursor would
// leave the screen. So the parameter is put right before the emulator's own
// handler has it.
func (s *screen) rowMargins(params ansi.Params) bool {
	height := s.emulator.Height()
	clamp(params, height)
	first, _, _ := params.Param(0, 1)
	last, _, _ := params.Param(1, height)
	confined := first > 1 || last > 0 && last < height
	if s.alternate() {
		s.margins.rowsAlternate = confined
	} else {
		s.margins.rows = confined
	}
	return false
}

// columnMargins does the same for columns. Without parameters the sequence keeps
// the cursor's place.
func (s *screen) columnMargins(params ansi.Params) bool {
	if len(params) > 0 {
		clamp(params, s.emulator.Width())
		s.margins.columns = true
	}
	return false
}

// clamp puts the second parameter right, which is shared with the emulator.
func clamp(params ansi.Params, most int) {
	if last, _, ok := params.Param(1, 0); ok && last > most {
		params[1] = ansi.Param(most)
	}
}

// isConfined says that text does not flow over the whole screen.
func (s *screen) isConfined() bool {
	rows := s.margins.rows
	if s.alternate() {
		rows = s.margins.rowsAlternate
	}
	return rows || s.margins.columns
}

// write takes in what the program printed. Text that only flows by is taken in
// when somebody looks: the emulator is thirty times slower than a terminal.
func (s *screen) write(output []byte) {
	flowing := flows(output)
	if flowing && !s.drawing && !s.isConfined() && s.behind.add(output, s.emulator.Height()) {
		return
	}
	s.drawing = !flowing
	s.catchUp()
	s.guard(func() { _, _ = s.emulator.Write(output) })
}

func (s *screen) catchUp() {
	text := s.behind.take()
	s.guard(func() { _, _ = s.emulator.Write(text) })
}

func (s *screen) resize(to size) {
	s.catchUp()
	s.guard(func() { s.emulator.Resize(to.columns, to.rows) })
}

// guard keeps the program running whatever it prints: without a screen nothing
// is typed, and all else goes on.
func (s *screen) guard(do func()) {
	if s.lost {
		return
	}
	defer func() {
		if recover() != nil {
			s.lost = true
		}
	}()
	do()
}

// A view is the screen at one moment.
type view struct {
	left, right string // of the cursor, on its line; right has no blanks at its end
	rows        []string
	row         int // of the cursor
	alternate   bool
	lost        bool
}

// line is the cursor's line as a whole.
func (v view) line() string { return strings.TrimRight(v.left+v.right, " ") }

func (s *screen) view() view {
	s.catchUp()
	v := view{lost: true}
	s.guard(func() {
		at := s.emulator.CursorPosition()
		v.row = at.Y
		v.left = s.text(at.Y, 0, at.X)
		v.right = strings.TrimRight(s.text(at.Y, at.X, s.emulator.Width()), " ")
		for y := range s.emulator.Height() {
			v.rows = append(v.rows, strings.TrimRight(s.text(y, 0, s.emulator.Width()), " "))
		}
		v.alternate = s.alternate()
		v.lost = false
	})
	return v
}

// alternate says that a full-screen program has the terminal.
func (s *screen) alternate() bool { return s.emulator.IsAltScreen() }

func (s *screen) text(y, from, to int) string {
	var b strings.Builder
	for x := from; x < to; x++ {
		cell := s.emulator.CellAt(x, y)
		switch {
		case cell == nil:
			b.WriteByte(' ')
		case cell.Content != "":
			b.WriteString(cell.Content)
		case cell.Width == 1:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// paragraphs is all that is shown and has scrolled off, line by line. A row that
// is filled to its end goes on in the next.
func (s *screen) paragraphs() string {
	s.catchUp()
	var b strings.Builder
	s.guard(func() {
		width := s.emulator.Width()
		add := func(row string, full bool) {
			if full {
				b.WriteString(row)
				return
			}
			b.WriteString(strings.TrimRight(row, " "))
			b.WriteByte('\n')
		}
		if !s.alternate() {
			for _, line := range s.emulator.Scrollback().Lines() {
				row := line.String()
				add(row, len(line) >= width && !strings.HasSuffix(row, " "))
			}
		}
		for y := range s.emulator.Height() {
			row := s.text(y, 0, width)
			add(row, !strings.HasSuffix(row, " "))
		}
	})
	return b.String()
}
