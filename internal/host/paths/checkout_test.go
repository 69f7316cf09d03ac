package paths

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// newRepository is a repository with a commit, cloned from there if a remote is given.
func newRepository(t *testing.T, remote string) string {
	t.Helper()
	dir := t.TempDir()
	runGit(t, dir, "init", "-q", "-b", "main")
	if remote != "" {
		runGit(t, dir, "remote", "add", "origin", remote)
	}
	cmd := exec.Command("git", "-C", dir, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "first")
	// The same moment makes the same commit.
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func leasedAs(t *testing.T, dir string) string {
	t.Helper()
	checkout, ok := CheckoutOf(dir)
	if !ok {
		t.Fatalf("%s is no working tree", dir)
	}
	repository, err := checkout.SetLeases(true)
	if err != nil {
		t.Fatal(err)
	}
	if read, on := checkout.Leases(); !on || read != repository {
		t.Fatalf("it is %q, and the configuration says %q", repository, read)
	}
	return repository
}

func TestClonesOfOneRepositoryAreOneAndForksAreNot(t *testing.T) {
	t.Parallel()
	https := newRepository(t, "https://git.example.com/Org/app.git")
	ssh := newRepository(t, "git@git.example.com:Org/app")
	fork := newRepository(t, "https://git.example.com/me/app.git")
	local := filepath.Join(t.TempDir(), "local")
	runGit(t, t.TempDir(), "clone", "-q", https, local)
	id := leasedAs(t, https)
	for _, dir := range []string{ssh, local} {
		if other := leasedAs(t, dir); other != id {
			t.Errorf("%s is %s, want %s", dir, other, id)
		}
	}
	if leasedAs(t, fork) == id {
		t.Error("a fork is the same repository")
	}
}

func TestAShallowCloneAndARepositoryWithoutACommitHaveNoLeases(t *testing.T) {
	t.Parallel()
	empty, shallow := t.TempDir(), filepath.Join(t.TempDir(), "shallow")
	runGit(t, empty, "init", "-q")
	from := newRepository(t, "")
	runGit(t, from, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "second")
	runGit(t, t.TempDir(), "clone", "-q", "--depth", "1", "file://"+from, shallow)
	for _, dir := range []string{empty, shallow} {
		checkout, ok := CheckoutOf(dir)
		if _, err := checkout.SetLeases(true); !ok || err == nil {
			t.Errorf("%s: found %t, %v", dir, ok, err)
		}
	}
}

func TestAFileIsFoundInItsWorkingTreeHoweverItIsNamed(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, "")
	side, link := filepath.Join(t.TempDir(), "side"), filepath.Join(t.TempDir(), "link")
	runGit(t, dir, "worktree", "add", "-q", "-b", "feature/x", side)
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	main, within, ok := FindCheckout(filepath.Join(link, "new", "a.go"))
	if !ok || within != "new/a.go" || main.Top != real || main.Branch() != "main" {
		t.Errorf("found %t: %q in %+v, on %s", ok, within, main, main.Branch())
	}
	other, within, ok := FindCheckout(filepath.Join(side, "a.go"))
	if !ok || within != "a.go" || other.Branch() != "feature/x" || other.Tree() == main.Tree() {
		t.Errorf("found %t: %q, on %s", ok, within, other.Branch())
	}
	id := leasedAs(t, dir)
	if shared, on := other.Leases(); !on || shared != id {
		t.Error("the worktree does not know that leases are on")
	}
	if _, _, ok := FindCheckout(filepath.Join(dir, ".git", "config")); ok {
		t.Error("git's own files are leased")
	}
	runGit(t, side, "checkout", "-q", "--detach")
	if branch := other.Branch(); branch != "" {
		t.Errorf("without a branch it is on %q", branch)
	}
	if _, err := main.SetLeases(false); err != nil {
		t.Fatal(err)
	}
	if _, on := main.Leases(); on {
		t.Error("leases are still on")
	}
}

func TestALinkToAFileThatIsNotThereYetLeadsToThatFile(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, "")
	for link, to := range map[string]string{"link": "new.go", "chain": "link", "up": "folder/../new.go", "full": filepath.Join(dir, "new.go"), "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"link", "chain", "up", "full", "folder/../link"} {
		if _, within, ok := FindCheckout(dir + "/" + link); !ok || within != "new.go" {
			t.Errorf("%s leads to %q", link, within)
		}
	}
	if _, within, ok := FindCheckout(filepath.Join(dir, "loop")); !ok || within != "loop" {
		t.Errorf("a loop leads to %q", within)
	}
}

func TestWhereCaseDoesNotCountAFileHasTheNameThatIsThere(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, "")
	if err := os.MkdirAll(filepath.Join(dir, "Src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Src", "Main.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	named := func(name string) string {
		_, within, _ := FindCheckout(filepath.Join(dir, name))
		return within
	}
	if got := named("src/main.go"); got != "src/main.go" {
		t.Errorf("where case counts it is %q", got)
	}
	runGit(t, dir, "config", "core.ignorecase", "true")
	for name, want := range map[string]string{"src/main.go": "Src/Main.go", "SRC/MAIN.GO": "Src/Main.go", "src/New.go": "Src/New.go", "Src/Main.go": "Src/Main.go", "other/x": "other/x"} {
		if got := named(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestAWorkingTreeKnowsItsLastLeasesAndWhatIsUnchanged(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, "")
	checkout, _ := CheckoutOf(dir)
	odd := "a b\n\"c\".go"
	for _, number := range []int64{3, 9, 7} {
		if err := checkout.NoteLeases([]string{odd, "b.go"}, []int64{number, 1}); err != nil {
			t.Fatal(err)
		}
	}
	noted, err := checkout.NotedLeases()
	if err != nil || noted[odd] != 9 || noted["b.go"] != 1 {
		t.Errorf("noted %v, %v", noted, err)
	}
	if err := os.WriteFile(filepath.Join(dir, odd), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	same, err := checkout.Unchanged([]string{odd, "b.go"})
	if err != nil || !slices.Equal(same, []string{"b.go"}) {
		t.Errorf("unchanged %q, %v", same, err)
	}
	runGit(t, dir, "add", ".")
	staged, err := checkout.Staged()
	if err != nil || !slices.Equal(staged, []string{odd}) {
		t.Errorf("staged %q, %v", staged, err)
	}
}
