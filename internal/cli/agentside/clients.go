package agentside

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/clients"
	"github.com/c3po-dev/c3po/internal/host/verify"
	"github.com/c3po-dev/c3po/plugin"
)

// ClaudeType is what sessions of Claude Code call themselves.
const ClaudeType = "claude-code"

// An Installation is c3po in a coding agent of this host, as that says itself.
type Installation struct {
	Client string // the name of its command
	Folder string // of the plugin; empty if it is not installed
	Off    bool   // installed, and switched off there
	Fix    string // the command that installs it
	Err    error  // it could not be asked
}

// Installations are the coding agents of this host, with or without c3po.
func Installations(ctx context.Context, a *console.Console) []Installation {
	var all []Installation
	for _, look := range []func(context.Context) (Installation, bool){func(ctx context.Context) (Installation, bool) { return claudeInstallation(ctx, a) }} {
		if i, here := look(ctx); here {
			all = append(all, i)
		}
	}
	return all
}

// claudeInstallation asks Claude Code from which folder it reads the plugin.
func claudeInstallation(ctx context.Context, a *console.Console) (Installation, bool) {
	found := Installation{Client: "claude", Fix: "c3po install claude"}
	claude, err := exec.LookPath(found.Client)
	if err != nil {
		return found, false
	}
	out, err := (&ClaudeInstaller{claude: claude}).output(ctx, "plugin", "list", "--json")
	var plugins []struct {
		ID      string `json:"id"`
		Enabled *bool  `json:"enabled"`
		Copy    string `json:"installPath"`
		InPlace string `json:"readFromFolder"`
	}
	if err == nil && json.Unmarshal(out, &plugins) != nil {
		err = c3po.Errorf(c3po.Internal, "claude plugin list does not answer with JSON").Suggest("Update Claude Code.")
	}
	found.Err = err
	for _, p := range plugins {
		if p.ID != PluginID {
			continue
		}
		found.Folder = p.Copy
		if p.InPlace != "" {
			found.Folder = p.InPlace
		}
		found.Off = p.Enabled != nil && !*p.Enabled
	}
	return found, true
}

// verifyClient is the installation as verify tries it.
func (i Installation) verifyClient(env []string) verify.Client {
	c := verify.Plugin{Root: i.Folder, Files: os.DirFS(i.Folder), Whole: plugin.Files, Env: env, Fix: i.Fix}.Client()
	switch {
	case i.Err != nil:
		c.Trouble = c3po.AsError(i.Err).Message
	case i.Off:
		c.Trouble, c.Fix = "the plugin is switched off in Claude Code", "claude plugin enable "+PluginID
	}
	return c
}

// ApprovalsMissing are the commands that make permission dialogs questions to the person, if
// no coding agent was installed so: for all projects, or for the one in this folder.
func ApprovalsMissing(ctx context.Context, a *console.Console, project string) []string {
	for _, i := range Installations(ctx, a) {
		hooks, err := os.ReadFile(filepath.Join(i.Folder, "hooks", "hooks.json")) // #nosec G304 -- the plugin's, as Claude Code names it
		if err == nil && i.Folder != "" && !i.Off && bytes.Contains(hooks, []byte(permissionHook+`"`)) {
			return nil
		}
	}
	for _, c := range clients.All() {
		for _, folder := range []string{"", project} {
			setup, err := c.Setup(clients.Place{Home: a.Home(), Project: folder, Getenv: a.Getenv})
			if c.Approvals && err == nil && setup.Approvals {
				return nil
			}
		}
	}
	install := func(t Target) string { return "c3po install " + t.Name + " --approvals" }
	var all []string
	for _, t := range TargetsHere(a) {
		if t.approves {
			all = append(all, install(t))
		}
	}
	if len(all) == 0 { // none is in the PATH, and the person may have one nevertheless
		all = []string{install(Targets(a)[0])}
	}
	return all
}
