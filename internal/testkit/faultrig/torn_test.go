package faultrig_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// A written log is the append-only file of a Redis that a story was told to.
type writtenLog struct {
	rounds int
	books  c3po.Audit
	shown  map[string]string
	files  map[string][]byte // by name; log is the one that grows
	log    string
}

// write has a story told, and takes the files.
func write(t *testing.T, rounds int) writtenLog {
	t.Helper()
	redis := redistest.New(t)
	told := newStory(t, redis.URL())
	if err := told.tell(t.Context(), rounds); err != nil {
		t.Fatal(err)
	}
	w := writtenLog{rounds: rounds, books: told.books(t), shown: told.shown(t), files: map[string][]byte{}}
	if !w.books.Balanced {
		t.Fatalf("the books of the story do not balance: %+v", w.books)
	}
	redis.Kill()
	names, err := filepath.Glob(filepath.Join(redis.Dir(), "appendonlydir", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w.files[filepath.Base(name)] = text
		if strings.HasSuffix(name, ".incr.aof") {
			w.log = filepath.Base(name)
		}
	}
	if len(w.files[w.log]) == 0 {
		t.Fatalf("there is no log among %v", names)
	}
	return w
}

// with starts a Redis that finds this log instead of the one that was written.
func (w writtenLog) with(t *testing.T, log []byte) (*redistest.Server, error) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "appendonlydir")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range w.files {
		if name == w.log {
			text = log
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return redistest.NewAt(t, redistest.Place{Dir: dir})
}

// A disk that fills, or a machine that stops, leaves a log that ends anywhere.
// Redis drops what is not whole, and as every step is one transaction, the space
// is what it was after one of them. Who repeats what it knows to have asked for
// ends with the same books.
func TestALogThatEndsAnywhereEndsBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	cuts := faultrig.Size(10, 200)
	written := write(t, faultrig.Size(2, 4))
	whole := written.files[written.log]
	want := texts(t, written.shown)
	halves, chance := 0, seed.Rand(t, 1)
	for n := range cuts {
		at := chance.IntN(len(whole))
		t.Run(fmt.Sprintf("cut %d at %d of %d", n, at, len(whole)), func(t *testing.T) {
			redis, err := written.with(t, whole[:at])
			if err != nil {
				t.Fatalf("Redis does not start: %v", err)
			}
			again := newStory(t, redis.URL())
			problems := again.problems(t)
			halves += len(problems)
			if len(problems) > 0 {
				t.Errorf("%s", strings.Join(problems, "\n"))
			}
			if err := again.tell(t.Context(), written.rounds); err != nil {
				t.Fatalf("the story cannot be told again: %v", err)
			}
			if diff := cmp.Diff(counts(written.books), counts(again.books(t))); diff != "" {
				t.Errorf("the books after all was repeated (-whole +torn):\n%s", diff)
			}
			if diff := cmp.Diff(want, texts(t, again.shown(t))); diff != "" {
				t.Errorf("the mail after all was repeated (-whole +torn):\n%s", diff)
			}
		})
	}
	faultrig.Verdict{
		Row: "B4", Holds: []faultrig.Invariant{faultrig.OneMessageAKey, faultrig.BooksBalance},
		Size: fmt.Sprintf("a log of %d messages", written.books.Sent), Faults: fmt.Sprintf("%d logs cut anywhere", cuts), Lost: halves,
	}.Record(t)
}

// Without the transactions the same cuts do leave halves: the test above can fail.
func TestALogWithoutTransactionsEndsInTheMiddleOfAStep(t *testing.T) {
	t.Parallel()
	written := write(t, 1)
	whole := written.files[written.log]
	for _, word := range []string{"*1\r\n$5\r\nMULTI\r\n", "*1\r\n$4\r\nEXEC\r\n"} {
		whole = bytes.ReplaceAll(whole, []byte(word), nil)
	}
	// Somewhere in the last steps, where all keys are in use.
	var found []string
	for at := len(whole) * 9 / 10; at > len(whole)/2 && len(found) == 0; at -= 97 {
		t.Run(fmt.Sprintf("cut at %d", at), func(t *testing.T) {
			redis, err := written.with(t, whole[:at])
			if err != nil {
				t.Fatalf("Redis does not start: %v", err)
			}
			found = newStory(t, redis.URL()).problems(t)
		})
	}
	if len(found) == 0 {
		t.Error("no half of a step was found")
	}
	t.Logf("%q", found)
}

// problems are what is not whole: books that do not balance, and mail that is
// not as its sender wrote it.
func (s *story) problems(t *testing.T) []string {
	t.Helper()
	problems := slices.Clone(s.books(t).Problems)
	for _, line := range texts(t, s.shown(t)) {
		from, rest, _ := strings.Cut(line, ": ")
		if strings.HasSuffix(rest, " true") || from != "system" && !strings.Contains(rest, " "+from+" ") {
			problems = append(problems, line)
		}
	}
	return problems
}

// counts are the books without what differs from run to run.
func counts(a c3po.Audit) c3po.Audit {
	a.Epoch, a.Agents = 0, 0
	return a
}
