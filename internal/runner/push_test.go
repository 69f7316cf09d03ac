package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// bundled is what a container writes out of a hostile workspace: the commits, as
// an honest git would, whatever else is in its repository.
func (v *victim) bundled(branch string) string {
	v.t.Helper()
	file := filepath.Join(v.home, "bundle")
	v.sh(v.workspace, "git -c core.fsmonitor=false bundle create -q "+file+" refs/heads/"+branch)
	if err := os.RemoveAll(filepath.Join(v.home, "owned")); err != nil {
		v.t.Fatal(err)
	}
	return file
}

func TestResultsArePushedFromACloneThatHasNothingOfTheContainersSettings(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.sh(v.workspace, plantedRepository+`
mkdir -p .githooks && cp evil .githooks/pre-push && cp evil .githooks/reference-transaction
cat > .gitmodules <<'END'
[submodule "x"]
	path = x
	url = ../remote.git
	update = !touch $HOME/owned
END
git -c core.fsmonitor=false -c filter.x.clean=cat add -f evil .gitattributes && git -c core.fsmonitor=false commit -qm two
git branch coder`)
	clone, remote := filepath.Join(v.home, "push.git"), filepath.Join(v.home, "remote.git")
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.home, "GIT_DIR=" + filepath.Join(v.workspace, ".git")}
	if _, err := openClone(t.Context(), clone); err != nil {
		t.Fatal(err)
	}
	if err := takeIn(t.Context(), clone, v.bundled("coder"), "coder"); err != nil {
		t.Fatal(err)
	}
	if err := pushClone(t.Context(), clone, agentfile.Push{To: remote, Branch: "coder"}, environ); err != nil {
		t.Fatal(err)
	}
	v.sh(remote, "git log --oneline coder | grep -q two")
	if v.owned() {
		t.Error("a program of the container's ran as the runner's user")
	}
	tips, err := openClone(t.Context(), clone)
	if err != nil || len(tips) != 1 {
		t.Errorf("the next run knows %v, %v", tips, err)
	}
}

func TestABundleThatNamesOtherBranchesOrIsNoneChangesNothing(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.sh(v.workspace, plantedRepository)
	clone := filepath.Join(v.home, "push.git")
	if _, err := openClone(t.Context(), clone); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(v.home, "none")
	v.sh(v.home, "printf 'said on stdout' > none")
	for name, file := range map[string]string{"another branch": v.bundled("main"), "no bundle": none} {
		if err := takeIn(t.Context(), clone, file, "coder"); err == nil {
			t.Errorf("%s was taken in", name)
		}
	}
	if tips, err := openClone(t.Context(), clone); err != nil || len(tips) != 0 {
		t.Errorf("there are %v, %v", tips, err)
	}
}

func TestNothingIsPushedIntoTheWorkspaceWhoseHooksWouldRun(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.sh(v.workspace, plantedRepository+" && cp evil .git/hooks/update && cp evil .git/hooks/post-receive && ln -s $PWD ../innocent")
	for _, to := range []string{v.workspace, "file://" + v.workspace, filepath.Join(v.home, "innocent"), filepath.Join(v.workspace, ".git")} {
		agent := v.agent("coder")
		agent.Push = &agentfile.Push{To: to, Branch: "coder"}
		err := (&keeper{Runner: v.Runner, agent: agent, folder: v.home}).push(t.Context())
		if err == nil || !strings.Contains(err.Error(), "is in the workspace") {
			t.Errorf("%s: %v", to, err)
		}
	}
	if v.owned() {
		t.Error("a hook of the workspace ran")
	}
}
