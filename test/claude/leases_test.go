package claude_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// repository makes the agent's folder one with a commit.
func (a *agent) repository() paths.Checkout {
	a.t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", append([]string{"-C", a.folder}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			a.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	checkout, ok := paths.CheckoutOf(a.folder)
	if !ok {
		a.t.Fatal("it is no working tree")
	}
	return checkout
}

func leasesOn(t *testing.T, checkout paths.Checkout) string {
	t.Helper()
	repository, err := checkout.SetLeases(true)
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

// writing is a model that writes one file after the other, whatever becomes of each.
func (a *agent) writing(files int, text string) brain {
	n := 0
	return func(request) step {
		if n++; n > files {
			return say("DONE")
		}
		return call("Write", map[string]any{"file_path": filepath.Join(a.folder, fmt.Sprintf("f%02d.txt", n)), "content": text})
	}
}

func (a *agent) wrote(n int) string {
	text, err := os.ReadFile(filepath.Join(a.folder, fmt.Sprintf("f%02d.txt", n)))
	if err != nil {
		return ""
	}
	return string(text)
}

func TestFilesThatAnotherSessionEditsAreNotWrittenAndTheModelHearsWhoDoes(t *testing.T) {
	t.Parallel()
	const files = 20
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", nil)
	repository := leasesOn(t, a.repository())
	other := c3po.LeaseTakeInput{Repository: repository, Branch: "main", Tree: "elsewhere", Task: "the parser"}
	for n := 1; n <= files; n += 2 {
		other.Paths = append(other.Paths, fmt.Sprintf("f%02d.txt", n))
	}
	if taken, err := w.as("nas/ed").LeaseTake(t.Context(), other); err != nil || len(taken.Numbers) != files/2 {
		t.Fatal(taken, err)
	}
	a.model.Script = a.writing(files, "mine")
	p := a.print("write them all", "--allowedTools", "Write")
	seen := a.model.Seen()
	told := seen[len(seen)-1].All()
	for n := 1; n <= files; n++ {
		held := n%2 == 1
		if written := a.wrote(n); held == (written != "") {
			t.Errorf("file %d, held by another: %t, holds %q", n, held, written)
		}
		if refusal := fmt.Sprintf(`has been editing "f%02d.txt"`, n); held != strings.Contains(strings.ReplaceAll(told, `\"`, `"`), refusal) {
			t.Errorf("the model's word about file %d, held by another: %t", n, held)
		}
	}
	if !strings.Contains(told, "'nas/ed'") || !strings.Contains(told, "the parser") {
		t.Errorf("the refusals do not say who and what for:\n%s", p.text())
	}
}

func TestWithoutAConflictALeaseAddsNothingToWhatTheModelReads(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	a := w.host("pi").agent("api", nil)
	checkout := a.repository()
	sizes := map[bool]int{}
	for _, on := range []bool{false, true} {
		if on {
			leasesOn(t, checkout)
		}
		before := len(a.model.Seen())
		a.model.Script = a.writing(5, "mine")
		a.print("write them all", "--allowedTools", "Write")
		for _, r := range a.model.Seen()[before:] {
			sizes[on] += r.Bytes
		}
		for n := 1; n <= 5; n++ {
			if a.wrote(n) != "mine" {
				t.Fatalf("file %d was not written", n)
			}
			_ = os.Remove(filepath.Join(a.folder, fmt.Sprintf("f%02d.txt", n)))
		}
	}
	if sizes[true] != sizes[false] {
		t.Errorf("with leases the model reads %d bytes, without %d", sizes[true], sizes[false])
	}
}

func TestTheLeasesOfAKilledSessionAreFreeAtOnce(t *testing.T) {
	t.Parallel()
	w := newTestCoordinator(t)
	for range faultrig.Size(1, 50) {
		a := w.host("pi").agent("api", nil)
		leasesOn(t, a.repository())
		a.model.Script = a.writing(1, "mine")
		term := a.open("--allowedTools", "Write")
		term.idle()
		term.enter("write it")
		held := func() int {
			list, err := w.as("").LeaseList(t.Context(), c3po.LeaseListInput{})
			if err != nil {
				return -1
			}
			return len(list.Leases)
		}
		eventually(t, 30*time.Second, "the file is leased", func() bool { return held() == 1 && a.wrote(1) == "mine" })
		kill(t, term.pid)
		killed := time.Now()
		eventually(t, 20*time.Second, "it is free", func() bool { return held() == 0 })
		faultrig.Hold(t, "free after its session was killed", time.Since(killed), 5*time.Second)
	}
}
