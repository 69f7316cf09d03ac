package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/internal/cli/agentside"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/clients"
	"github.com/c3po-dev/c3po/internal/host/doctor"
	"github.com/c3po-dev/c3po/plugin"
)

// examineClients looks at the coding agents of this host.
func examineClients(ctx context.Context, a *console.Console) []doctor.Client {
	var all []doctor.Client
	for _, i := range agentside.Installations(ctx, a) {
		all = append(all, examineInstallation(i))
	}
	for _, c := range clients.All() {
		i, err := agentside.NewFileInstaller(a, c, agentside.InstallFlags{})
		if err != nil {
			continue // without a home there are no files
		}
		_, missing := exec.LookPath(c.Program)
		if missing == nil || i.Plan.Installed() {
			all = append(all, examineFiles(i))
		}
	}
	for n, c := range all {
		if last := a.Folders.HookRun(c.Type); last != nil {
			all[n].LastHook = &doctor.HookRun{Event: last.Event, Agent: last.Agent, At: last.At, Took: last.Took}
		}
	}
	return all
}

// examineInstallation compares what is installed with what this program would install.
func examineInstallation(i agentside.Installation) doctor.Client {
	c := doctor.Client{Name: i.Client, Type: agentside.ClaudeType, Err: i.Err, Installed: i.Folder != "", Off: i.Off, Fix: i.Fix}
	if !c.Installed {
		return c
	}
	_ = fs.WalkDir(plugin.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, err := plugin.Files.ReadFile(name)
		have, missing := os.ReadFile(filepath.Join(i.Folder, name))
		if missing != nil || !bytes.Equal(have, want) && !bytes.Equal(have, inRoomsOf(have, want)) && !approves(have, want) {
			c.Stale = append(c.Stale, name)
		}
		return err
	})
	named, _ := os.ReadFile(filepath.Join(i.Folder, "bin", "binary"))
	for _, program := range []string{strings.TrimSpace(string(named)), "c3po"} { // as bin/launch looks for it
		if found, err := exec.LookPath(program); err == nil && c.Binary == "" {
			c.Binary = found
		}
	}
	return c
}

// approves says that what is installed is the hooks of this program, with approvals.
func approves(have, want []byte) bool {
	hooks, err := agentside.WithApprovals(want)
	return err == nil && bytes.Equal(have, hooks)
}

// inRoomsOf is the list of servers of this program, for the rooms that the one
// that is installed joins.
func inRoomsOf(have, want []byte) []byte {
	var file struct {
		Servers map[string]struct {
			Env map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if json.Unmarshal(have, &file) != nil {
		return want
	}
	rooms := file.Servers["c3po"].Env["C3PO_AUTO_JOIN_ROOMS"]
	if out, err := agentside.WithRooms(want, rooms); err == nil && rooms != "" {
		return out
	}
	return want
}

// examineFiles is the same for a client that takes c3po in by its own files.
func examineFiles(i *agentside.FileInstaller) doctor.Client {
	name := i.Plan.Client.Name
	c := doctor.Client{Name: name, Type: name, Installed: i.Plan.Installed(), Fix: "c3po install " + name}
	if !c.Installed {
		return c
	}
	setup, err := i.Plan.Client.Setup(i.Plan.Place)
	if err != nil {
		c.Err = err
		return c
	}
	if len(setup.Command) > 0 {
		c.Binary, _ = exec.LookPath(setup.Command[0]) // empty if it is nowhere
	}
	for _, h := range setup.Hooks {
		if h.Missing {
			c.Missing = append(c.Missing, h.Event)
		}
	}
	if at := slices.Index(setup.Command, "--auto-join-rooms"); at >= 0 && at+1 < len(setup.Command) {
		i.Plan.Place.Rooms = setup.Command[at+1]
	}
	i.Plan.Place.Approvals, i.Plan.Place.Hold = setup.Approvals, setup.Hold
	plan, err := i.Plan.PlanInstall()
	c.Err = err
	for _, change := range plan {
		if change.Left == "" && !bytes.Equal(change.Before, change.After) {
			c.Stale = append(c.Stale, filepath.Base(change.Path))
		}
	}
	return c
}

// projectFiles are what the files of a project say about c3po, and those that
// hold a token where git would take it along.
func projectFiles(a *console.Console, project string) ([]doctor.Entry, []doctor.Exposed) {
	if same(project, a.Home()) {
		return nil, nil // those are the files of the user, for all projects
	}
	var entries []doctor.Entry
	for _, e := range clients.ProjectEntries(project) {
		entry := doctor.Entry{File: e.File, Client: e.Client, Program: e.Start, URL: e.URL, Env: e.Env["C3PO_COORDINATOR_URL"], Off: e.Off, Err: e.Err}
		if e.Start != "" {
			entry.Found = resolveProgram(exec.LookPath(e.Start))
		}
		entry.Tracked = filepath.IsAbs(e.Start) && gitHas(project, e.File)
		entries = append(entries, entry)
	}
	var exposed []doctor.Exposed
	for _, name := range append(clients.ProjectFiles(), ".env", ".env.local", "c3po.yaml", "agents.yaml", "AGENTS.md", "CLAUDE.md") {
		text, err := os.ReadFile(filepath.Join(project, filepath.FromSlash(name)))
		if err != nil || !doctor.HoldsToken(text) {
			continue
		}
		if tracked := gitHas(project, name); tracked || gitWouldTake(project, name) {
			exposed = append(exposed, doctor.Exposed{File: name, Tracked: tracked})
		}
	}
	return entries, exposed
}

func same(x, y string) bool {
	a, errA := os.Stat(x)
	b, errB := os.Stat(y)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func gitHas(project, name string) bool {
	return exec.Command("git", "-C", project, "ls-files", "--error-unmatch", "--", name).Run() == nil // #nosec G204 -- a name of our own table
}

// gitWouldTake says that a file is in a repository, and not ignored there.
func gitWouldTake(project, name string) bool {
	inside := exec.Command("git", "-C", project, "rev-parse", "--is-inside-work-tree").Run() == nil         // #nosec G204 -- asks git about a folder
	return inside && exec.Command("git", "-C", project, "check-ignore", "--quiet", "--", name).Run() != nil // #nosec G204 -- a name of our own table
}
