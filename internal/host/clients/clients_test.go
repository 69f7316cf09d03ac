package clients_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/c3po-dev/c3po/internal/host/clients"
)

// installerOf is for a client in a home of its own.
func installerOf(t *testing.T, home string, c clients.Client) clients.Installer {
	t.Helper()
	return clients.Installer{
		Client: c, Folder: filepath.Join(home, "ours"),
		Place: clients.Place{Home: home, Program: "/opt/c3po", Getenv: func(string) string { return "" }},
	}
}

func install(t *testing.T, i clients.Installer) {
	t.Helper()
	plan, err := i.PlanInstall()
	if err == nil {
		err = i.Install(plan)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func uninstall(t *testing.T, i clients.Installer) {
	t.Helper()
	plan, err := i.PlanUninstall()
	if err == nil {
		err = i.Uninstall(plan)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tree is every file of a folder with its content.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := "folder"
		if !entry.IsDir() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = string(data)
		}
		all[filepath.ToSlash(strings.TrimPrefix(name, folder))] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all, "/ours")
	return all
}

func TestEveryClientLeavesAHomeAsItFoundIt(t *testing.T) {
	t.Parallel()
	for _, c := range clients.All() {
		home := t.TempDir()
		before := tree(t, home)
		i := installerOf(t, home, c)
		install(t, i)
		once := tree(t, home)
		if len(once) == len(before) || !i.Installed() {
			t.Errorf("%s: nothing is installed", c.Name)
		}
		install(t, i)
		if diff := cmp.Diff(once, tree(t, home)); diff != "" {
			t.Errorf("%s: twice is not once:\n%s", c.Name, diff)
		}
		uninstall(t, i)
		if diff := cmp.Diff(before, tree(t, home)); diff != "" {
			t.Errorf("%s: not as before:\n%s", c.Name, diff)
		}
		if len(c.Approves) == 0 {
			t.Errorf("%s: it does not say what the person approves", c.Name)
		}
	}
}

func TestTheSkillGoesWithTheLastClientThatHasIt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	first := installerOf(t, home, clients.All()[0])
	other := first.Client
	other.Name = "other"
	second := installerOf(t, home, other)
	install(t, first)
	install(t, second)
	skill := filepath.Join(home, ".agents", "skills", "c3po", "SKILL.md")
	uninstall(t, first)
	if _, err := os.Stat(skill); err != nil {
		t.Error(err)
	}
	uninstall(t, second)
	if _, err := os.Stat(filepath.Join(home, ".agents")); !os.IsNotExist(err) {
		t.Errorf("it is left: %v", err)
	}
}

func TestAFileKeepsItsRightsAndTheLinkToIt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(home, "dotfiles.toml")
	if err := os.WriteFile(real, []byte("model = \"x\"\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, ".codex", "config.toml")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here")
	}
	install(t, installerOf(t, home, clients.All()[0]))
	text, err := os.ReadFile(real)
	if err != nil || !bytes.Contains(text, []byte("mcp_servers.c3po")) {
		t.Errorf("%v\n%s", err, text)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// Every byte of the skill's head is before the model in every session, and all of
// it whenever there is mail.
func TestTheSkillIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, limit 1500", len(text))
	if len(text) > 1500 {
		t.Errorf("it has %d bytes", len(text))
	}
}

func TestInstallingAgainWithoutApprovalsTakesThemBack(t *testing.T) {
	t.Parallel()
	for _, c := range clients.All() {
		if !c.Approvals {
			continue
		}
		home := t.TempDir()
		before := tree(t, home)
		without := installerOf(t, home, c)
		install(t, without)
		plain := tree(t, home)
		with := without
		with.Place.Approvals = true
		if c.Holds {
			with.Place.Hold = 5 * time.Minute
		}
		install(t, with)
		if setup, err := c.Setup(without.Place); err != nil || !setup.Approvals || setup.Hold != with.Place.Hold || len(setup.Hooks) == 0 {
			t.Errorf("%s: %+v, %v", c.Name, setup, err)
		}
		if plan, err := with.PlanInstall(); err != nil || slices.ContainsFunc(plan, func(c clients.Change) bool { return !bytes.Equal(c.Before, c.After) }) {
			t.Errorf("%s: twice is not once: %v", c.Name, err)
		}
		install(t, without)
		if diff := cmp.Diff(plain, tree(t, home), cmpopts.IgnoreMapEntries(func(name, _ string) bool { return strings.HasPrefix(name, "/ours/") })); diff != "" {
			t.Errorf("%s: not as without approvals:\n%s", c.Name, diff)
		}
		install(t, with)
		uninstall(t, without)
		if diff := cmp.Diff(before, tree(t, home)); diff != "" {
			t.Errorf("%s: not as before:\n%s", c.Name, diff)
		}
	}
}
