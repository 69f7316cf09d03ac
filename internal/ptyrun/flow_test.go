package ptyrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/c3po-dev/c3po/internal/seed"
)

// What is kept back and forgotten is never missed: a screen that was fed in one
// go looks as one that took everything in at once.
func TestAScreenThatKeepsTextBackShowsTheSame(t *testing.T) {
	t.Parallel()
	seed.Check(t, func(t *rapid.T) {
		at := size{columns: rapid.IntRange(20, 90).Draw(t, "columns"), rows: rapid.IntRange(3, 30).Draw(t, "rows")}
		lazy, prompt := newScreen(at), newScreen(at)
		defer lazy.close()
		defer prompt.close()
		for range rapid.IntRange(1, 3).Draw(t, "pieces") {
			piece := rapid.OneOf(
				rapid.Custom(func(t *rapid.T) string {
					line := rapid.StringMatching(`(é|[a-z <]|\x1b\[[0-9]{1,2}m){0,60}`).Draw(t, "line")
					if rapid.Bool().Draw(t, "in one line") {
						return strings.Repeat(line, 2*behindMost/(len(line)+1)) + "\r\n"
					}
					return strings.Repeat(line+"\r\n", rapid.SampledFrom([]int{1, 3, 2 * behindMost / (len(line) + 1)}).Draw(t, "times"))
				}),
				rapid.SampledFrom([]string{"$ ", "\x1b[2J", "\x1b[H", "\x1b[3;8r", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2004h", "\x1b[5A", "\x1b[", "31mred", "\x08"}),
			).Draw(t, "piece")
			for chunk := range slices.Chunk([]byte(piece), rapid.SampledFrom([]int{1000, 32 << 10, 1 << 20}).Draw(t, "read")) {
				lazy.write(chunk)
				prompt.drawing = true
				prompt.write(chunk)
			}
		}
		if diff := cmp.Diff(prompt.view(), lazy.view(), cmp.AllowUnexported(view{})); diff != "" {
			t.Fatal("the screens differ (-all taken in +kept back):\n" + diff)
		}
		if prompt.paste != lazy.paste {
			t.Fatal("they differ in whether pastes have brackets")
		}
	})
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
