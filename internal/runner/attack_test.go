package runner

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

// A victim is a host whose containers are hostile: they have written whatever
// they could before the runner acts.
type victim struct {
	t         *testing.T
	home      string
	workspace string
	*Runner
}

func newVictim(t *testing.T, folders ...string) *victim {
	t.Helper()
	home := t.TempDir()
	for _, folder := range append(folders, "work") {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	v := &victim{t: t, home: home, workspace: filepath.Join(home, "work")}
	v.Runner = New(Config{
		Places:     FindPlaces(home, filepath.Join(home, ".config", "c3po"), filepath.Join(home, ".local", "state", "c3po")),
		Containers: &container.CLI{}, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" },
		Coordinator: Coordinator{Client: client.Config{URL: "http://127.0.0.1:8420"}},
	})
	return v
}

func (v *victim) agent(name string) agentfile.Agent {
	return agentfile.Agent{Name: name, Workspace: v.workspace, Client: shellClient, Prompt: "true", Limits: agentfile.DefaultLimits()}
}

// spec is what the runtime would be asked for.
func (v *victim) spec(agent agentfile.Agent) container.Spec {
	v.t.Helper()
	user := ownerFor(agent.Workspace)
	folder, err := v.folder(agent.Name)
	if err == nil {
		err = v.cfg.Places.prepare(user)
	}
	secrets, failed := os.MkdirTemp(folder, "launch-")
	if err := errors.Join(err, failed); err != nil {
		v.t.Fatal(err)
	}
	l := launch{mode: modeAgent, agent: agent, as: &identity{ID: "docker/x", Token: "t"}, folder: folder}
	spec, err := v.Runner.spec(l, login{}, user, secrets)
	if err != nil {
		v.t.Fatal(err)
	}
	v.setLimits(v.t.Context(), &spec, agent.Limits)
	return spec
}

// writable are the files and folders of the host that a container may write.
func writable(spec container.Spec) []string {
	var all []string
	for _, m := range spec.Mounts {
		if !m.ReadOnly {
			all = append(all, m.Host)
		}
	}
	return all
}

func (v *victim) sh(folder, script string) {
	v.t.Helper()
	cmd := exec.CommandContext(v.t.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.Env = folder, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + v.home, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		v.t.Fatalf("%v: %s", err, out)
	}
}

func (v *victim) owned() bool {
	_, err := os.Stat(filepath.Join(v.home, "owned"))
	return err == nil
}

// plantedRepository is a workspace whose repository runs a program of the
// container's whenever a git of the host works in it.
const plantedRepository = `
git init -q -b main --bare ../remote.git
git init -q -b main . && git commit -q --allow-empty -m one && git remote add origin ../remote.git
printf '#!/bin/sh\ntouch "$HOME/owned"\n' > .git/hooks/pre-push && chmod +x .git/hooks/pre-push
cp .git/hooks/pre-push evil && git config core.fsmonitor "$PWD/evil" && git config core.sshCommand "$PWD/evil" && git config alias.push '!touch $HOME/owned'
git config filter.x.clean "$PWD/evil" && echo '* filter=x' > .gitattributes && touch f`

func TestAGitCommandAfterARunExecutesNoHookOfTheContainer(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.cfg.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.home}
	v.sh(v.workspace, plantedRepository)
	for _, command := range []string{"git push origin HEAD", "git status", "git add ."} {
		agent := v.agent("coder")
		agent.PostRun = []string{command}
		k := &keeper{Runner: v.Runner, agent: agent}
		k.afterwards(t.Context())
		if v.owned() {
			t.Fatalf("%s ran a program of the container's as the runner's user", command)
		}
	}
}

func TestAScriptTriggerExecutesNoProgramOfTheContainer(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.cfg.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.home}
	v.sh(v.workspace, `printf '#!/bin/sh\ntouch "$HOME/owned"\n' > has-work && chmod +x has-work`)
	if err := v.shell(t.Context(), "./has-work", v.agent("coder")); err == nil || v.owned() {
		t.Errorf("the trigger ran a program of the container's: %v", err)
	}
}

func TestNoContainerMayWriteWhatTheRunnerReadsAsItsOwn(t *testing.T) {
	t.Parallel()
	for _, folders := range [][]string{nil, {".claude-docker/agents"}} {
		v := newVictim(t, folders...)
		p := v.cfg.Places
		for _, mounted := range writable(v.spec(v.agent("coder"))) {
			for _, own := range []string{p.AgentFile, p.Login, p.Settings, p.Personal, filepath.Join(p.State, "agents", "coder", "identity.json"), filepath.Join(p.State, "agents", "other")} {
				if Within(own, mounted) {
					t.Errorf("with %v a container may write %s through %s", folders, own, mounted)
				}
			}
		}
	}
}

func TestALinkThatAContainerHasLeftIsNotFollowed(t *testing.T) {
	t.Parallel()
	v := newVictim(t, ".claude-docker/agents")
	profile := filepath.Join(v.home, ".bashrc")
	if err := os.WriteFile(profile, []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Join(v.home, ".claude-docker", "agents"), v.cfg.Places.Handoffs} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(profile, filepath.Join(folder, "rev-trigger-handoff")); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	spec := v.spec(v.agent("rev"))
	if text, err := os.ReadFile(profile); err != nil || string(text) != "precious\n" {
		t.Errorf("the runner has written through the link: %q, %v", text, err)
	}
	for _, mounted := range writable(spec) {
		if real, err := filepath.EvalSymlinks(mounted); err != nil || real == profile {
			t.Errorf("the next container may write %s: %v", real, err)
		}
	}
}

func TestNoAgentMayWriteTheHomeOfAnother(t *testing.T) {
	t.Parallel()
	for _, folders := range [][]string{nil, {".claude-docker"}} {
		v := newVictim(t, folders...)
		one, two := v.agent("one"), v.agent("two")
		two.Workspace = filepath.Join(v.home, "elsewhere")
		if err := os.Mkdir(two.Workspace, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, of := range writable(v.spec(one)) {
			for _, m := range v.spec(two).Mounts {
				if Within(m.Host, of) || Within(of, m.Host) {
					t.Errorf("with %v what one writes to %s the other reads from %s", folders, of, m.Host)
				}
			}
		}
	}
}

func TestAContainerHasLimitsUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	spec := newVictim(t).spec(agentfile.Agent{Name: "coder", Workspace: t.TempDir(), Client: shellClient, Limits: agentfile.DefaultLimits()})
	if spec.Memory == "" || spec.CPUs == "" || spec.PIDs == 0 {
		t.Errorf("memory %q, cpus %q, pids %d", spec.Memory, spec.CPUs, spec.PIDs)
	}
}

func TestNoContainerSharesTheHostsNetworkUnasked(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	asked := v.agent("coder")
	asked.Network = agentfile.NetworkHost
	if spec := v.spec(asked); spec.Network != "host" {
		t.Errorf("one that was asked for is %q", spec.Network)
	}
	for _, network := range append(agentfile.Networks()[:2], "") {
		asked.Network = network
		if spec := v.spec(asked); spec.Network == "host" || spec.ReachHost {
			t.Errorf("%q: network %q, reaches the host %v", network, spec.Network, spec.ReachHost)
		}
	}
}

func TestAWorkspaceThatHoldsWhatTheRunnerReadsIsRefused(t *testing.T) {
	t.Parallel()
	v := newVictim(t, ".claude-docker", ".config/c3po", ".local/state/c3po/agent/agents/other", "bin", "real/code/sub", "secret")
	v.cfg.Binary = filepath.Join(v.home, "bin", "c3po")
	if err := os.Symlink(filepath.Join(v.home, ".config"), filepath.Join(v.home, "innocent")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", ".config", ".config/c3po", ".local", ".local/state/c3po/agent/agents/other", ".claude-docker", "bin", "innocent"} {
		agent := v.agent("coder")
		agent.Workspace = filepath.Join(v.home, folder)
		if err := v.CheckWorkspace(agent); err == nil {
			t.Errorf("%q is a workspace", folder)
		}
	}
	// An agent whose workspace has another's in it puts a link in its place.
	outer, inner := filepath.Join(v.home, "real"), filepath.Join(v.home, "real", "code", "sub")
	v.cfg.Workspaces = []string{outer, inner}
	agent := v.agent("inner")
	agent.Workspace = inner
	if err := v.CheckWorkspace(agent); err != nil {
		t.Errorf("an honest folder is refused: %v", err)
	}
	v.sh(outer, "mv code/sub code/gone && ln -s ../../secret code/sub")
	if err := v.CheckWorkspace(agent); err == nil {
		t.Error("the other agent decides which folder is mounted")
	}
}

func TestTheTemplateOfAHomeIsCopiedPastWhatAnAgentHasPlanted(t *testing.T) {
	t.Parallel()
	v := newVictim(t, ".config/c3po/claude/plugins/one")
	v.sh(filepath.Join(v.home, ".config/c3po/claude"), `echo mine > settings.json; echo x > plugins/one/f; echo '{"a":1}' > .claude.json; ln -s /etc/passwd link`)
	v.spec(v.agent("coder"))
	claude := filepath.Join(v.cfg.Places.Homes, "agent-coder", "claude")
	v.sh(v.home, "echo precious > .bashrc; mkdir -p elsewhere/one")
	// What it plants: a link for a file, one for a folder, other settings.
	v.sh(claude, "ln -sf $HOME/.bashrc settings.json; rm -r plugins; ln -s $HOME/elsewhere plugins; echo evil > ../claude.json")
	v.spec(v.agent("coder"))
	v.sh(v.home, `grep -qx precious .bashrc; [ ! -e elsewhere/one/f ]`)
	v.sh(claude, `grep -qx mine settings.json; [ ! -L plugins ]; grep -qx x plugins/one/f; [ ! -e .claude.json ]; [ ! -e link ]`)
	v.spec(v.agent("other"))
	v.sh(filepath.Join(v.cfg.Places.Homes, "agent-other"), `grep -q '"a":1' claude.json; grep -qx mine claude/settings.json`)
}
