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
}

func newScreen(size size) *screen {
	s := &screen{emulator: vt.NewEmulator(size.columns, size.rows)}
	s.emulator.SetScrollbackSize(historyRows)
	s.emulator.SetCallbacks(vt.Callbacks{
		EnableMode:  func(mode ansi.Mode) { s.paste = s.paste || mode == ansi.ModeBracketedPaste },
		DisableMode: func(mode ansi.Mode) { s.paste = s.paste && mode != ansi.ModeBracketedPaste },
	})
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

// write takes in what the program printed. Text that only flows by is taken in
// when somebody looks: the emulator is thirty times slower than a terminal.
func (s *screen) write(output []byte) {
	flowing := flows(output)
	if flowing && !s.drawing && s.behind.add(output, s.emulator.Height()) {
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
