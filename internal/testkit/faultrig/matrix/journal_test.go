package matrix_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig/matrix"
)

// resumed is what a journal knows when somebody begins: how each test ended, and what it says of itself.
func resumed(t *testing.T, name, commit string) (*matrix.Journal, *matrix.Results) {
	t.Helper()
	var results matrix.Results
	journal, err := matrix.Open(name, commit, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), &results)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { journal.Close() })
	return journal, &results
}

func TestARunThatWasInterruptedGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	first, _ := resumed(t, name, "abc")
	for line := range strings.Lines(log) {
		if _, _, err := first.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.AddCommand("make vet", false, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	// Killed while it wrote a line, of a test that had said something already.
	if _, _, err := first.Add(`{"Action":"output","Package":"github.com/c3po-dev/c3po/x","Test":"TestCutOff","Output":"verdict: {\"row\":\"B1\"}"}` + "\n" + `{"Action":"pa`); err != nil {
		t.Fatal(err)
	}

	second, results := resumed(t, name, "abc")
	for test, want := range map[string]string{"./x TestKills": matrix.Passed, "./x TestBroken": matrix.Failed, "./x TestCutOff": matrix.Missing, "$ make vet": matrix.Passed, "$ make lint": matrix.Failed} {
		entries, err := matrix.Parse("B1 " + test)
		if err != nil {
			t.Fatal(err)
		}
		if got := results.Of(entries[0]).End; got != want {
			t.Errorf("%s: %s, want %s", test, got, want)
		}
	}
	for _, action := range []string{"run", "pass"} {
		if _, _, err := second.Add(`{"Action":"` + action + `","Package":"github.com/c3po-dev/c3po/x","Test":"TestCutOff"}` + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	entries, _ := matrix.Parse("B1 ./x TestCutOff")
	if got := results.Of(entries[0]); got.End != matrix.Passed || len(got.Verdicts) != 0 {
		t.Errorf("run again, it is %+v", got)
	}
	if got, want := second.String(), "commit abc, begun 2026-01-02 03:04:05, 9s of tests in 2 pieces"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestWhatRanOfAnotherCommitCountsForNothing(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	first, _ := resumed(t, name, "abc")
	if err := first.AddCommand("make vet", false, time.Second); err != nil {
		t.Fatal(err)
	}
	next, results := resumed(t, name, "def")
	entries, _ := matrix.Parse("J $ make vet")
	if got := results.Of(entries[0]).End; got != matrix.Missing {
		t.Errorf("it is %s", got)
	}
	if got := next.String(); !strings.HasSuffix(got, "0s of tests in one go") {
		t.Errorf("it says %q", got)
	}
	if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), "abc") {
		t.Errorf("the file is %q (%v)", text, err)
	}
}
