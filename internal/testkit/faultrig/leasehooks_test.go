package faultrig_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// leasedFolder makes a folder a repository with a commit, and its files leased.
func leasedFolder(t *testing.T, dir string) {
	t.Helper()
	faultrig.Git(t, dir, "init", "-q", "-b", "main")
	faultrig.Git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	switchLeases(t, dir)
}

func switchLeases(t *testing.T, dir string) {
	t.Helper()
	checkout, ok := paths.CheckoutOf(dir)
	if !ok {
		t.Fatalf("%s is no working tree", dir)
	}
	if _, err := checkout.SetLeases(true); err != nil {
		t.Fatal(err)
	}
}

// edits runs the hook before an edit as Gemini CLI does, and gives its answer and how long it took.
func (w *workplace) edits(file string) (said string, took time.Duration) {
	w.t.Helper()
	cmd := w.command("hook", "--client", "gemini", "BeforeTool")
	cmd.Stdin = bytes.NewReader(fmt.Appendf(nil, `{"session_id":"s","hook_event_name":"BeforeTool","cwd":%q,"tool_name":"write_file","tool_input":{"file_path":%q}}`, w.dir, file))
	began := time.Now()
	out, err := cmd.Output()
	took = time.Since(began)
	if err != nil {
		w.t.Fatalf("the hook before an edit: %v\n%s", err, out)
	}
	return string(out), took
}

func (w *workplace) mayEdit(file string) time.Duration {
	w.t.Helper()
	said, took := w.edits(file)
	if strings.Contains(said, "deny") {
		w.t.Fatalf("the edit of %s: %s", file, said)
	}
	return took
}

// It does not run beside other tests: it measures.
func TestAnEditHardlyWaitsForACoordinatorThatFallsSilent(t *testing.T) {
	coordinator := faultrig.Start(t, redistest.Start(t))
	proxy := faultrig.NewProxy(t, coordinator.URL())
	w := newWorkplace(t, "http://"+proxy.Addr(), "gemini", "ed")
	leasedFolder(t, w.dir)
	w.hook("--client", "gemini", "SessionStart")
	reader := agent(t, coordinator.URL(), "reader")
	held := func(file string) bool {
		list, err := reader.LeaseList(t.Context(), c3po.LeaseListInput{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list.Leases, func(l c3po.Lease) bool { return l.Path == filepath.Base(file) })
	}
	var well, first, later []time.Duration
	for range 6 { // by which the session knows how long answers take
		well = append(well, w.mayEdit(filepath.Join(w.dir, "before")))
	}
	for n := range faultrig.Size(3, 50) {
		file := func(what string) string { return filepath.Join(w.dir, fmt.Sprintf("%d %s", n, what)) }
		eventually(t, "the session takes leases", func() bool {
			took := w.mayEdit(file("well"))
			well = append(well, took)
			return held(file("well"))
		})
		proxy.BlackHole()
		first = append(first, w.mayEdit(file("first")))
		later = append(later, w.mayEdit(file("later")), w.mayEdit(file("later")))
		proxy.Heal()
	}
	for _, m := range []struct {
		what  string
		took  []time.Duration
		limit time.Duration
	}{
		{"an edit with a coordinator that is well, process and all", well, 150 * time.Millisecond},
		{"the first edit after it fell silent", first, 150 * time.Millisecond},
		{"the next edits", later, 150 * time.Millisecond},
	} {
		slices.Sort(m.took)
		t.Logf("%s: %d, the slowest %v", m.what, len(m.took), m.took[len(m.took)-1].Round(time.Millisecond))
		faultrig.Hold(t, m.what+", median", m.took[len(m.took)/2], m.limit)
	}
}
