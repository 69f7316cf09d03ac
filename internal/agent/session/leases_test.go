package session_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// leased is a repository with some files, whose leases are on.
func leased(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	faultrig.Git(t, dir, "init", "-q", "-b", "main")
	for _, name := range files {
		writeFile(t, filepath.Join(dir, name), "one\n")
	}
	faultrig.Git(t, dir, "add", ".")
	faultrig.Git(t, dir, "commit", "-qm", "first")
	switchLeases(t, dir)
	return dir
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

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// editing is a session that is registered and has a turn.
func editing(t *testing.T, url, run string) *testSession {
	t.Helper()
	r := startAs(t, url, run, nil)
	r.prompt()
	eventually(t, "it is registered", func() bool { return len(r.agents()) > 0 })
	return r
}

var uses atomic.Int64

func editOf(file, use string) hook.Event {
	return hook.Event{Name: hook.PreToolUse, SessionID: "s1", ToolName: "Edit", ToolUseID: use, File: file}
}

// edits is what the hook before an edit answers.
func (r *testSession) edits(file string) string {
	r.t.Helper()
	return r.hook(editOf(file, fmt.Sprint("use", uses.Add(1))))
}

// edited makes an edit, and says that it is done.
func (r *testSession) edited(file, text string) {
	r.t.Helper()
	use := fmt.Sprint("use", uses.Add(1))
	if said := r.hook(editOf(file, use)); said != "{}" {
		r.t.Fatalf("the edit of %s: %s", file, said)
	}
	writeFile(r.t, file, text)
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: use})
}

func (r *testSession) leases() []c3po.Lease {
	r.t.Helper()
	list, err := r.as("").LeaseList(r.t.Context(), c3po.LeaseListInput{})
	if err != nil {
		r.t.Fatal(err)
	}
	return list.Leases
}

func TestAnEditOfAFileThatAnotherSessionEditsIsRefusedWithItsName(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go", "b.go")
	first, second := editing(t, url, "box:1:1"), editing(t, url, "box:2:2")
	a, b := filepath.Join(dir, "a.go"), filepath.Join(dir, "b.go")
	first.edited(a, "two\n")
	first.edited(a, "three\n")
	second.edited(b, "two\n")
	said := second.edits(a)
	for _, want := range []string{`"permissionDecision":"deny"`, "'api' has been editing", "a.go", "tell your user"} {
		if !strings.Contains(said, want) {
			t.Errorf("the refusal lacks %s: %s", want, said)
		}
	}
	if held := first.leases(); len(held) != 2 {
		t.Errorf("leases: %+v", held)
	}
	// A commit frees it; the session sees that after its next step.
	faultrig.Git(t, dir, "commit", "-qm", "second", "a.go")
	first.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"})
	eventually(t, "the file is free", func() bool { return len(first.leases()) == 1 })
	if said := second.edits(a); said != "{}" {
		t.Errorf("a free file: %s", said)
	}
}

func TestSessionsInDifferentBranchesDoNotKeepEachOtherFromAFile(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go")
	side, clone := filepath.Join(t.TempDir(), "side"), filepath.Join(t.TempDir(), "clone")
	faultrig.Git(t, dir, "worktree", "add", "-q", "-b", "side", side)
	faultrig.Git(t, filepath.Dir(clone), "clone", "-q", dir, clone)
	switchLeases(t, clone)
	first, second := editing(t, url, "box:1:1"), editing(t, url, "box:2:2")
	first.edited(filepath.Join(dir, "a.go"), "two\n")
	second.edited(filepath.Join(side, "a.go"), "two\n")
	if said := second.edits(filepath.Join(clone, "a.go")); !strings.Contains(said, "'api'") {
		t.Errorf("a clone on the same branch: %s", said)
	}
}

func TestWithoutLeasesAnEditAsksNobody(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), t.TempDir()
	faultrig.Git(t, dir, "init", "-q")
	r := editing(t, url, "box:1:1")
	r.edited(filepath.Join(dir, "a.go"), "x")
	r.edited(filepath.Join(t.TempDir(), "b.go"), "x")
	if said := r.edits(""); said != "{}" { // to allow it would be to answer for the person
		t.Errorf("of an edit that names no file we say %s", said)
	}
	if held := r.leases(); len(held) != 0 {
		t.Errorf("leases: %+v", held)
	}
}

func TestAnUnchangedFileIsFreeAndOneWhoseEditIsUnderWayIsNot(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go", "b.go")
	r := editing(t, url, "box:1:1")
	r.edited(filepath.Join(dir, "a.go"), "two\n")
	if said := r.edits(filepath.Join(dir, "b.go")); said != "{}" { // the person has yet to allow it
		t.Fatal(said)
	}
	faultrig.Git(t, dir, "checkout", "-q", "a.go")
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"})
	eventually(t, "a.go is free", func() bool { return len(r.leases()) == 1 })
	if held := r.leases(); held[0].Path != "b.go" {
		t.Errorf("leases: %+v", held)
	}
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	eventually(t, "b.go is free", func() bool { return len(r.leases()) == 0 })
}

func TestAFileWhoseEditWasDeniedIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go")
	r := editing(t, url, "box:1:1")
	for _, after := range []hook.Event{
		{Name: hook.ToolDenied}, {Name: hook.ToolFailed}, {Name: hook.UserPromptSubmit, Prompt: "something else"}, {Name: hook.StopFailure},
	} {
		use := fmt.Sprint("use", uses.Add(1))
		if said := r.hook(editOf(filepath.Join(dir, "a.go"), use)); said != "{}" {
			t.Fatal(said)
		}
		if held := r.leases(); len(held) != 1 {
			t.Fatalf("leases: %+v", held)
		}
		after.SessionID, after.ToolUseID = "s1", use
		r.hook(after)
		eventually(t, "it is free after "+after.Name, func() bool { return len(r.leases()) == 0 })
	}
}

func TestAnEditForWhichNoLeaseIsLeftIsMadeAndTheModelHearsIt(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go")
	r := editing(t, url, "box:1:1")
	patch := "*** Begin Patch\n"
	for i := range c3po.MaxAgentLeases {
		patch += fmt.Sprintf("*** Add File: f%03d\n+x\n", i)
		writeFile(t, filepath.Join(dir, fmt.Sprintf("f%03d", i)), "x\n")
	}
	input, err := json.Marshal(map[string]string{"command": patch})
	if err != nil {
		t.Fatal(err)
	}
	all := hook.Event{Name: hook.PreToolUse, SessionID: "s1", ToolName: "apply_patch", ToolUseID: "all", Input: input, Cwd: dir}
	if said := r.hook(all); said != "{}" {
		t.Fatal(said)
	}
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "all"})
	use := "one too many"
	if said := r.hook(editOf(filepath.Join(dir, "a.go"), use)); said != "{}" {
		t.Fatalf("the edit is not made: %s", said)
	}
	var said string
	eventually(t, "the model hears it", func() bool { // the edit does not wait for it
		said = r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: use})
		return said != "{}"
	})
	if !strings.Contains(said, `You edited \"a.go\" without a lease`) || !strings.Contains(said, "500 leases") {
		t.Errorf("the model reads %s", said)
	}
	if said := r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"}); strings.Contains(said, "without a lease") {
		t.Errorf("it reads it twice: %s", said)
	}
	// All of them end in one look.
	faultrig.Git(t, dir, "add", ".")
	faultrig.Git(t, dir, "commit", "-qm", "all")
	r.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	eventually(t, "all are free", func() bool { return len(r.leases()) == 0 })
}

func TestALeaseGoesAlongToTheBranchThatIsCheckedOut(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go", "b.go")
	clone := filepath.Join(t.TempDir(), "clone")
	faultrig.Git(t, filepath.Dir(clone), "clone", "-q", dir, clone)
	switchLeases(t, clone)
	first, second := editing(t, url, "box:1:1"), editing(t, url, "box:2:2")
	first.edited(filepath.Join(dir, "a.go"), "two\n")
	faultrig.Git(t, dir, "switch", "-q", "-c", "side") // it takes the change along
	faultrig.Git(t, clone, "switch", "-q", "-c", "side")
	second.edited(filepath.Join(clone, "b.go"), "two\n")
	first.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"})
	eventually(t, "the lease is on the other branch", func() bool {
		held := first.leases()
		return slices.ContainsFunc(held, func(l c3po.Lease) bool { return l.Path == "a.go" && l.Branch == "side" })
	})
	if said := second.edits(filepath.Join(clone, "a.go")); !strings.Contains(said, "'api' has been editing") {
		t.Errorf("on the same branch: %s", said)
	}
	faultrig.Git(t, clone, "stash", "-q")
	faultrig.Git(t, clone, "switch", "-q", "main")
	if said := second.edits(filepath.Join(clone, "a.go")); said != "{}" {
		t.Errorf("on the branch that it has left: %s", said)
	}
	// Who finds the file edited on the branch it comes to, hears so.
	faultrig.Git(t, dir, "stash", "-q")
	first.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	eventually(t, "it has no lease", func() bool {
		return !slices.ContainsFunc(first.leases(), func(l c3po.Lease) bool { return l.Holder == "api" })
	})
	faultrig.Git(t, dir, "stash", "pop", "-q")
	first.edited(filepath.Join(dir, "a.go"), "three\n")
	faultrig.Git(t, dir, "switch", "-q", "main")
	var said string
	eventually(t, "it hears who edits the file there", func() bool {
		said = first.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"})
		return strings.Contains(said, "Another session edits files that you have changed")
	})
	if !strings.Contains(said, "'api-2'") || !strings.Contains(said, "a.go") {
		t.Error(said)
	}
}

func TestFilesOfAWorkingTreeThatIsGoneOrHasNoLeasesAnyMoreAreFree(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go")
	side := filepath.Join(t.TempDir(), "side")
	faultrig.Git(t, dir, "worktree", "add", "-q", "-b", "side", side)
	r := editing(t, url, "box:1:1")
	r.edited(filepath.Join(side, "a.go"), "two\n")
	r.edited(filepath.Join(dir, "a.go"), "two\n")
	faultrig.Git(t, dir, "worktree", "remove", "--force", side)
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"})
	eventually(t, "what was in the worktree is free", func() bool { return len(r.leases()) == 1 })
	if held := r.leases(); held[0].Branch != "main" {
		t.Errorf("leases: %+v", held)
	}
	checkout, _ := paths.CheckoutOf(dir)
	if _, err := checkout.SetLeases(false); err != nil {
		t.Fatal(err)
	}
	r.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"})
	eventually(t, "all is free", func() bool { return len(r.leases()) == 0 })
}

func TestALeaseMovesWithTheRepositoryWhenARemoteIsAdded(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go")
	clone := filepath.Join(t.TempDir(), "clone")
	faultrig.Git(t, filepath.Dir(clone), "clone", "-q", dir, clone)
	faultrig.Git(t, clone, "remote", "set-url", "origin", "https://git.example.com/org/app.git")
	switchLeases(t, clone)
	first, second := editing(t, url, "box:1:1"), editing(t, url, "box:2:2")
	a := filepath.Join(dir, "a.go")
	first.edited(a, "two\n")
	before := first.leases()[0].Repository
	faultrig.Git(t, dir, "remote", "add", "origin", "git@git.example.com:org/app")
	first.edited(a, "three\n")
	if said := second.edits(filepath.Join(clone, "a.go")); !strings.Contains(said, "'api' has been editing") {
		t.Errorf("in another clone: %s", said)
	}
	eventually(t, "nothing is held by the old name", func() bool {
		held := first.leases()
		return len(held) == 1 && held[0].Repository != before && strings.HasPrefix(held[0].Repository, "app-")
	})
}

func TestWhoTakesWorkOnEditsItsFilesAndWhoHandedItOverDoesNot(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go", "b.go")
	clone := filepath.Join(t.TempDir(), "clone")
	faultrig.Git(t, filepath.Dir(clone), "clone", "-q", dir, clone)
	switchLeases(t, clone)
	first, second := editing(t, url, "box:1:1"), editing(t, url, "box:2:2")
	asked, err := first.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "mend a.go"})
	if err != nil {
		t.Fatal(err)
	}
	first.edited(filepath.Join(dir, "a.go"), "two\n")
	before := first.leases()[0].Number
	first.call("u1", "reply", map[string]any{"message_id": asked.ID, "response": "half of it is done", "status": c3po.ReplyHandedOver, "handed_to": "api-2"})
	held := first.leases()
	if len(held) != 1 || held[0].Holder != "api-2" || held[0].Number <= before {
		t.Fatalf("leases: %+v", held)
	}
	if said := first.edits(filepath.Join(dir, "a.go")); !strings.Contains(said, "'api-2' has been editing") {
		t.Errorf("who handed it over edits on: %s", said)
	}
	second.edited(filepath.Join(clone, "a.go"), "three\n")
	thread, err := first.as("web").GetThread(t.Context(), c3po.ThreadInput{Thread: string(asked.ID)})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("two\n"))
	want := fmt.Sprintf(`{"files":[{"branch":"main","path":"a.go","sha256_prefix":"%x"}]}`, sum[:16])
	at := slices.IndexFunc(thread.Messages, func(m c3po.Message) bool { return m.Status == c3po.ReplyHandedOver })
	if at < 0 || thread.Messages[at].Text() != "half of it is done" || !sameJSON(thread.Messages[at].Metadata, want) {
		t.Errorf("the thread is %+v, want %s", thread.Messages, want)
	}
}

// sameJSON compares what two texts hold.
func sameJSON(text json.RawMessage, want string) bool {
	var a, b any
	return json.Unmarshal(text, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

func TestEditsGoOnWithoutACoordinatorAndOverlapsAreToldAfterwards(t *testing.T) {
	t.Parallel()
	c, dir := coordinator(t), leased(t, "a.go", "b.go")
	proxy := faultrig.NewProxy(t, c.URL())
	cut := startAs(t, "http://"+proxy.Addr(), "box:1:1", func(cfg *session.Config) { cfg.Timeouts.MinLease = time.Millisecond })
	cut.prompt()
	eventually(t, "it is registered", func() bool { return len(cut.agents()) > 0 })
	other := editing(t, c.URL(), "box:2:2")
	a := filepath.Join(dir, "a.go")
	other.edited(a, "theirs\n")
	proxy.BlackHole()
	for range 5 {
		cut.edited(a, "mine\n")
	}
	proxy.Heal()
	var said string
	eventually(t, "the overlap is told", func() bool {
		said = cut.hook(hook.Event{Name: hook.PostToolUse, SessionID: "s1", ToolUseID: "shell"})
		return strings.Contains(said, "Another session edits files that you have changed")
	})
	if !strings.Contains(said, `a.go`) || !strings.Contains(said, "'api-2'") {
		t.Error(said)
	}
}
