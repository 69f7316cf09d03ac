package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/host/verify"
	"github.com/c3po-dev/c3po/plugin"
)

// claudeType is what sessions of Claude Code call themselves.
const claudeType = "claude-code"

// An installation is c3po in a coding agent of this host, as that says itself.
type installation struct {
	client string // the name of its command
	folder string // of the plugin; empty if it is not installed
	off    bool   // installed, and switched off there
	fix    string // the command that installs it
	err    error  // it could not be asked
}

// installations are the coding agents of this host, with or without c3po.
func (a *app) installations(ctx context.Context) []installation {
	var all []installation
	for _, look := range []func(context.Context) (installation, bool){a.claudeInstallation} {
		if i, here := look(ctx); here {
			all = append(all, i)
		}
	}
	return all
}

// claudeInstallation asks Claude Code from which folder it reads the plugin.
func (a *app) claudeInstallation(ctx context.Context) (installation, bool) {
	found := installation{client: "claude", fix: "c3po install claude"}
	claude, err := exec.LookPath(found.client)
	if err != nil {
		return found, false
	}
	out, err := (&claudeInstaller{claude: claude}).output(ctx, "plugin", "list", "--json")
	var plugins []struct {
		ID      string `json:"id"`
		Enabled *bool  `json:"enabled"`
		Copy    string `json:"installPath"`
		InPlace string `json:"readFromFolder"`
	}
	if err == nil && json.Unmarshal(out, &plugins) != nil {
		err = c3po.Errorf(c3po.Internal, "claude plugin list does not answer with JSON").Suggest("Update Claude Code.")
	}
	found.err = err
	for _, p := range plugins {
		if p.ID != pluginID {
			continue
		}
		found.folder = p.Copy
		if p.InPlace != "" {
			found.folder = p.InPlace
		}
		found.off = p.Enabled != nil && !*p.Enabled
	}
	return found, true
}

// verifyClient is the installation as verify tries it.
func (i installation) verifyClient(env []string) verify.Client {
	c := verify.Plugin{Root: i.folder, Files: os.DirFS(i.folder), Whole: plugin.Files, Env: env, Fix: i.fix}.Client()
	switch {
	case i.err != nil:
		c.Trouble = c3po.AsError(i.err).Message
	case i.off:
		c.Trouble, c.Fix = "the plugin is switched off in Claude Code", "claude plugin enable "+pluginID
	}
	return c
}
