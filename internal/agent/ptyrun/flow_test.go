package ptyrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// What is kept back and forgotten is never missed: a screen that was fed in one
// go looks as one that took everything in at once.
func TestAScreenThatKeepsTextBackShowsTheSame(t *testing.T) {
	t.Parallel()
	seed.Check(t, func(t *rapid.T) {
		screens := newTwins(size{columns: rapid.IntRange(20, 90).Draw(t, "columns"), rows: rapid.IntRange(3, 30).Draw(t, "rows")})
		defer screens.close()
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			piece := rapid.OneOf(
				rapid.Custom(func(t *rapid.T) string {
					line := rapid.StringMatching(`(é|[a-z <]|\x1b\[[0-9]{1,2}m){0,60}`).Draw(t, "line")
					if rapid.Bool().Draw(t, "in one line") {
						return strings.Repeat(line, 2*maxBehindBytes/(len(line)+1)) + "\r\n"
					}
					return numbered(line, rapid.SampledFrom([]int{1, 3, 2 * maxBehindBytes / (len(line) + 7)}).Draw(t, "times"))
				}),
				rapid.SampledFrom([]string{
					"$ ", "\x1b[2J", "\x1b[H", "\x1b[3;8r", "\x1b[r", "\x1b[?69h", "\x1b[5;200s", "\x1b[5;20s", "\x1bc",
					"\x1b[?1049h", "\x1b[?1049l", "\x1b[?2004h", "\x1b[5A", "\x1b[", "31mred", "\x08",
				}),
			).Draw(t, "piece")
			screens.write(piece, rapid.SampledFrom([]int{1000, 32 << 10, 1 << 20}).Draw(t, "read"))
		}
		screens.mustBeSame(t)
	})
}

func TestAScreenWithMarginsThatKeepsTextBackShowsTheSame(t *testing.T) {
	t.Parallel()
	const lines = 12_000 // more than is kept back
	for name, pieces := range map[string][]string{
		"below its last row": {numbered("", lines), "\x1b[3;8r", strings.Repeat("l\r\n", 2*lines)},
		"at the bottom":      {"\x1b[3;6r", "$ ", numbered("at the bottom", lines)},
		"at the top":         {"\x1b[1;4r", "$ ", numbered("at the top", lines)},
		"taken away":         {"\x1b[3;6r", "$ ", "\x1b[r", "$ ", numbered("all of it", lines)},
		"of the other screen": {
			"\x1b[3;6r", "\x1b[?1049h", "\x1b[r", "\x1b[?1049l", "\x1b[H", "$ ", numbered("the first has them", lines),
		},
		"beyond its last column": {"\x1b[?69h", "\x1b[5;200s", "$ ", numbered(strings.Repeat("wide ", 20), lines/10)},
		"at the side":            {"outside\r\n", "\x1b[?69h", "\x1b[5;20s", "$ ", numbered("at the side", lines)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := size{columns: 33, rows: 6}
			screens := newTwins(at)
			defer screens.close()
			for _, piece := range pieces {
				screens.write(piece, 1000)
			}
			if cursor := screens.prompt.emulator.CursorPosition(); cursor.Y >= at.rows || cursor.X >= at.columns {
				t.Errorf("the cursor has left the screen: %v", cursor)
			}
			screens.mustBeSame(t)
		})
	}
}

// numbered is a text of so many lines, no two of them the same.
func numbered(line string, times int) string {
	var b strings.Builder
	for n := range times {
		fmt.Fprintf(&b, "%d%s\r\n", n, line)
	}
	return b.String()
}

// twins are two screens that are fed the same: one keeps text back, one does not.
type twins struct{ lazy, prompt *screen }

func newTwins(at size) twins { return twins{newScreen(at), newScreen(at)} }

func (w twins) close() {
	w.lazy.close()
	w.prompt.close()
}

func (w twins) write(text string, read int) {
	for chunk := range slices.Chunk([]byte(text), read) {
		w.lazy.write(chunk)
		w.prompt.drawing = true
		w.prompt.write(chunk)
	}
}

func (w twins) mustBeSame(t interface{ Fatal(...any) }) {
	if diff := cmp.Diff(w.prompt.view(), w.lazy.view(), cmp.AllowUnexported(view{})); diff != "" {
		t.Fatal("the screens differ (-all taken in +kept back):\n" + diff)
	}
	if w.prompt.paste != w.lazy.paste {
		t.Fatal("they differ in whether pastes have brackets")
	}
}

func TestAnAnswerAfterMuchTextIsFound(t *testing.T) {
	t.Parallel()
	var found []answer
	reader := newAnswerReader(func(a answer) { found = append(found, a) })
	for range 1000 {
		reader.write([]byte("only text\r\n"))
	}
	reader.write([]byte("and then <"))
	reader.write([]byte("<c3po:bob::amy::00000001 yes"))
	reader.write([]byte(" c3po>>\r\n"))
	want := []answer{{"bob::amy::00000001", "yes"}}
	if diff := cmp.Diff(want, found, cmp.AllowUnexported(answer{})); diff != "" {
		t.Fatal("answers (-want +got):\n" + diff)
	}
}

func BenchmarkTextThatFlowsBy(b *testing.B) {
	s := newScreen(usual())
	defer s.close()
	reader := newAnswerReader(func(answer) {})
	chunk := []byte(strings.Repeat(fmt.Sprintf("%-70s\r\n", "\x1b[32mok\x1b[0m  a line of a long log"), 400))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		s.write(chunk)
		reader.write(chunk)
	}
}
