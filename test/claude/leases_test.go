package claude_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
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
	sizes, texts := map[bool]int{}, map[bool]string{}
	for _, on := range []bool{false, true} {
		if on {
			leasesOn(t, checkout)
		}
		before := len(a.model.Seen())
		a.model.Script = a.writing(5, "mine")
		a.print("write them all", "--allowedTools", "Write")
		for _, r := range a.model.Seen()[before:] {
			sizes[on] += r.Bytes
			texts[on] += fmt.Sprintf("%d bytes\n%s\n", r.Bytes, r.All())
		}
		for n := 1; n <= 5; n++ {
			if a.wrote(n) != "mine" {
				t.Fatalf("file %d was not written", n)
			}
			_ = os.Remove(filepath.Join(a.folder, fmt.Sprintf("f%02d.txt", n)))
		}
	}
	if sizes[true] != sizes[false] {
		t.Errorf("with leases the model reads %d bytes, without %d:\n%s", sizes[true], sizes[false], cmp.Diff(texts[false], texts[true]))
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

// Two hosts with a wire between them and nothing else in common, each with a clone of one
// repository: an edit on the one keeps the other from the file, and its end frees it there.
func TestClonesOnTwoHostsAreOneRepository(t *testing.T) {
	t.Parallel()
	claudeBinary(t)
	w := &testCoordinator{t: t}
	pi, mesh := w.host("pi"), w.host("meshbox")
	pi.network, mesh.network = newNetwork(t, 5), newNetwork(t, 6)
	pi.network.join(mesh.network, "192.0.2.1", "192.0.2.2")
	base := pi.nas("192.0.2.1")
	there := base.joined(mesh, "app", nil)
	here := pi.agent("app", nil)
	here.repository()
	git := func(dir string, args ...string) {
		t.Helper()
		run(t, append([]string{"git", "-C", dir}, args...)...)
	}
	git(here.folder, "remote", "add", "origin", "git@git.example.com:org/app.git")
	git(there.folder, "init", "-q", "-b", "main")
	git(there.folder, "pull", "-q", here.folder, "main")
	git(there.folder, "remote", "add", "origin", "https://git.example.com/org/app") // as its people clone it
	program := filepath.Join(there.home(), ".local", "bin", "c3po")
	named := regexp.MustCompile(`repository (\S+)\)`)
	on := []string{
		named.FindString(here.must(base.binary, "leases", "on")),
		named.FindString(there.must(program, "leases", "on", "--pre-commit")),
	}
	if on[0] == "" || on[0] != on[1] {
		t.Fatalf("the clones are %q", on)
	}

	const files = 6
	here.model.Script = here.writing(files/2, "mine")
	term := here.open("--allowedTools", "Write")
	term.idle()
	term.enter("write them")
	list := func() string { return base.must(base.binary, "leases") }
	eventually(t, 30*time.Second, "the first half is leased", func() bool {
		return strings.Count(list(), ".txt") == files/2 && here.wrote(files/2) == "mine"
	})

	there.model.Script = there.writing(files, "theirs")
	p := there.print("write them all", "--allowedTools", "Write")
	seen := there.model.Seen()
	told := strings.ReplaceAll(seen[len(seen)-1].All(), `\"`, `"`)
	for n := 1; n <= files; n++ {
		held := n <= files/2
		if held == (there.wrote(n) != "") || held && here.wrote(n) != "mine" {
			t.Errorf("file %d, held on the other host: %t, holds %q here and %q there", n, held, here.wrote(n), there.wrote(n))
		}
		if refusal := fmt.Sprintf(`'app' has been editing "f%02d.txt"`, n); held != strings.Contains(told, refusal) {
			t.Errorf("the model's word about file %d, held on the other host: %t", n, held)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s\n%s", list(), p.text(), told)
	}
	// What git is about to commit is checked across the wire too.
	if err := os.WriteFile(filepath.Join(there.folder, "f01.txt"), []byte("by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(there.folder, "add", "f01.txt")
	out, err := there.command("git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "by hand")
	if err == nil || !strings.Contains(out, "f01.txt is being edited by app") {
		t.Errorf("a commit of a file that is held on the other host: %v\n%s", err, out)
	}
	kill(t, term.pid)
	killed := time.Now()
	eventually(t, 20*time.Second, "the files are free", func() bool { return strings.Contains(list(), "nobody edits") })
	faultrig.Hold(t, "free after its session was killed", time.Since(killed), 5*time.Second)
	there.model.Script = there.writing(1, "theirs")
	there.print("write it", "--allowedTools", "Write")
	if got := there.wrote(1); got != "theirs" {
		t.Errorf("the file that is free holds %q", got)
	}
}
