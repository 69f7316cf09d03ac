package paths_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// repository makes one, with that remote unless it is empty.
func repository(t *testing.T, remote string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "init", "-q")
	if remote != "" {
		run(t, dir, "remote", "add", "origin", remote)
	}
	return dir
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func spaceOf(t *testing.T, dir string) c3po.Space {
	t.Helper()
	space, err := paths.RepositorySpace(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^repo-[0-9a-f]{16}$`).MatchString(string(space)) {
		t.Fatalf("the space is called %q", space)
	}
	return space
}

func TestEveryFormOfARemoteIsTheSameSpace(t *testing.T) {
	t.Parallel()
	want := spaceOf(t, repository(t, "https://github.com/Org/repo.git"))
	for _, remote := range []string{
		"https://github.com/Org/repo",
		"https://github.com/Org/repo/",
		"https://GitHub.com:443/Org/repo.git",
		"https://token:x-oauth@github.com/Org/repo.git",
		"http://github.com/Org//repo.git",
		"git://github.com/Org/repo.git",
		"ssh://git@github.com/Org/repo.git",
		"ssh://git@github.com:2222/Org/repo",
		"git@github.com:Org/repo.git",
		"git@github.com:/Org/repo.git/",
		"github.com:Org/repo",
	} {
		if got := spaceOf(t, repository(t, remote)); got != want {
			t.Errorf("%s is %s, want %s", remote, got, want)
		}
	}
	for _, remote := range []string{
		"https://github.com/org/repo.git", // case matters to most hosts
		"https://github.com/Org/repo2.git",
		"https://gitlab.com/Org/repo.git",
		"git@[::1]:Org/repo.git",
		"../Org/repo.git",
		"/srv/git/Org/repo.git",
	} {
		if got := spaceOf(t, repository(t, remote)); got == want {
			t.Errorf("%s is the same space as another repository", remote)
		}
	}
	if a, b := spaceOf(t, repository(t, "ssh://git@[::1]:22/Org/repo")), spaceOf(t, repository(t, "git@[::1]:Org/repo.git")); a != b {
		t.Errorf("one address is %s and %s", a, b)
	}
}

// The name is part of what hosts agree on, so it must never change.
func TestTheSpaceOfARepositoryIsTheHashOfItsRemote(t *testing.T) {
	t.Parallel()
	// printf github.com/Org/repo | sha256sum
	if got := spaceOf(t, repository(t, "git@github.com:Org/repo.git")); got != "repo-923fb83ddc7bf2b6" {
		t.Errorf("the space is %s", got)
	}
}

func TestARepositoryWithoutARemoteIsItsTopFolder(t *testing.T) {
	t.Parallel()
	dir := repository(t, "")
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if top, deep := spaceOf(t, dir), spaceOf(t, below); top != deep {
		t.Errorf("the top is %s, a folder below it %s", top, deep)
	}
	if here, there := spaceOf(t, dir), spaceOf(t, repository(t, "")); here == there {
		t.Errorf("two repositories are both %s", here)
	}
}

func TestAFolderInNoRepositoryHasNoSpaceByItself(t *testing.T) {
	t.Parallel()
	_, err := paths.RepositorySpace(t.TempDir())
	if !errors.Is(err, c3po.InvalidRequest) || c3po.AsError(err).Suggestion == "" {
		t.Errorf("error %v", err)
	}
}
