package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// planting is an agent that commits its work and then plants whatever might make
// a program of this host run something for it.
const planting = `
export HOME=/tmp/h GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; mkdir -p $HOME
git init -q -b coder . && echo work > result && git add result && git commit -qm result
printf '#!/bin/sh\ntouch /workspace/owned %[1]s/owned\n' > evil; chmod +x evil
for hook in pre-push post-checkout post-merge pre-commit post-index-change reference-transaction fsmonitor-watchman; do cp evil .git/hooks/$hook; done
for key in core.fsmonitor core.sshCommand core.pager core.editor core.askPass credential.helper gpg.program diff.external uploadpack.packObjectsHook core.gitProxy filter.x.clean filter.x.smudge; do git config $key '%[2]s/evil'; done
git config alias.push '!%[2]s/evil'; git config core.hooksPath '%[2]s/.git/hooks'; git config core.worktree / ; git config extensions.partialClone evil; git config remote.evil.url 'ext::%[2]s/evil'; git config remote.evil.promisor true; git config protocol.ext.allow always
echo '* filter=x diff=x' > .git/info/attributes; echo '%[2]s/.git/objects' > .git/objects/info/alternates
cp evil git; cp evil sh; cp evil true; echo evil > Makefile`

// Everything that an agent might leave to be run is there, and the host does what
// its file says after each run: pushes, looks for work, tidies up.
func TestNothingThatAContainerLeavesRunsOnTheHost(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace, remote := h.workspace("work"), filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", "-b", "main", remote).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := strings.NewReplacer("%[1]s", h.home, "%[2]s", workspace).Replace(planting)
	h.agents(scripted("coder", workspace, script, "  push: "+remote+"\n  post_run: [git push, git status, true, ./evil, make]\n"))
	got := h.c3po(workspace, "", "agent", "run", "coder")
	if got.code != 0 || strings.Contains(got.stderr, "not pushed") {
		t.Errorf("it ended with %d: %s", got.code, got.stderr)
	}
	for _, name := range []string{filepath.Join(h.home, "owned"), filepath.Join(workspace, "owned")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s: a program of the container's ran on this host", name)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", remote, "show", "coder:result").CombinedOutput(); err != nil || string(out) != "work\n" {
		t.Errorf("what it committed is not there: %v: %s", err, out)
	}
	// The next commit goes the same way, and only it.
	h.agents(scripted("coder", workspace, "export HOME=/tmp; unset GIT_DIR; git config --unset core.worktree; rm .git/hooks/* .git/info/attributes; "+
		"git -c core.fsmonitor=false -c user.name=a -c user.email=a@b commit --allow-empty -qm second", "  push: "+remote+"\n"))
	if got := h.c3po(workspace, "", "agent", "run", "coder"); got.code != 0 || strings.Contains(got.stderr, "not pushed") {
		t.Errorf("the second time it ended with %d: %s", got.code, got.stderr)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", remote, "log", "--format=%s", "coder").CombinedOutput(); err != nil || string(out) != "second\nresult\n" {
		t.Errorf("the remote has %s, %v", out, err)
	}
}

func TestWhatOneAgentPlantsInItsHomeIsReadByNoOther(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	one, two := h.workspace("one"), h.workspace("two")
	h.agents(scripted("one", one, "echo planted > ~/.claude/settings.json; echo planted > ~/.claude/CLAUDE.md; echo '{\"mcpServers\":{}}' > ~/.claude.json; ln -s /workspace ~/.claude/plugins", "") +
		scripted("two", two, "cat ~/.claude/settings.json ~/.claude/CLAUDE.md ~/.claude.json > /workspace/seen 2>/dev/null; true", ""))
	for _, name := range []string{"one", "two"} {
		if got := h.c3po(one, "", "agent", "run", name); got.code != 0 {
			t.Fatalf("%s: %d %s", name, got.code, got.stderr)
		}
	}
	if seen, err := os.ReadFile(filepath.Join(two, "seen")); err != nil || string(seen) != "{}\n" {
		t.Errorf("the other reads %q, %v", seen, err)
	}
}

func TestAContainerReachesTheCoordinatorAndNothingElseOfThisHost(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	h.agents(scripted("coder", workspace, `c3po whoami --json > whoami
curl -s -m 5 "$C3PO_COORDINATOR_URL/livez" > leaked && echo leaked > leaks
cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null > pids
cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null > memory; true`, "  network: none\n"))
	if got := h.c3po(workspace, "", "agent", "run", "coder"); got.code != 0 {
		t.Fatalf("%d %s", got.code, got.stderr)
	}
	if who, err := os.ReadFile(filepath.Join(workspace, "whoami")); err != nil || !strings.Contains(string(who), `"docker/coder"`) {
		t.Errorf("it is %s, %v", who, err)
	}
	if len(lines(filepath.Join(workspace, "leaks"))) != 0 {
		t.Error("it reaches what listens on the loopback of this host")
	}
	if pids, memory := lines(filepath.Join(workspace, "pids")), lines(filepath.Join(workspace, "memory")); len(pids) != 1 || pids[0] != "4096" || len(memory) != 1 || memory[0] != "4294967296" {
		t.Errorf("it may have %v processes and %v bytes", pids, memory)
	}
}

func TestAContainerCannotHaveAnotherAgentsSessionEnded(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	workspace := h.workspace("work")
	made, err := h.admin().CreateToken(t.Context(), c3po.TokenInput{Role: c3po.RoleAgent, Agents: "docker/other"})
	if err != nil {
		t.Fatal(err)
	}
	other := client.New(client.Config{URL: h.coordinator.URL(), Token: made.Secret, AgentID: "docker/other"})
	if _, err := other.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}
	h.agents(scripted("coder", workspace, "echo docker/other > /tmp/claude-docker-trigger-handoff", ""))
	if got := h.c3po(workspace, "", "agent", "run", "coder"); got.code != 0 || !strings.Contains(got.stderr, "says it is another agent, and may not be") {
		t.Errorf("%d %s", got.code, got.stderr)
	}
	agent, err := h.as("asker").GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "docker/other"})
	if err != nil || agent.Status != c3po.Online {
		t.Errorf("the other is %v, %v", agent.Status, err)
	}
}
