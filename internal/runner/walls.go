package runner

import (
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// CheckWorkspace says what is wrong with a folder before a runtime does, in
// words of its own. An agent rewrites its workspace as it likes, so that holds
// nothing which the runner reads or runs.
func (r *Runner) CheckWorkspace(agent agentfile.Agent) error {
	info, err := os.Stat(agent.Workspace)
	if err != nil || !info.IsDir() {
		return c3po.Errorf(c3po.InvalidRequest, "the workspace %s of %s is not a folder", agent.Workspace, agent.Name).
			Suggest("Make it, or correct agents.yaml.")
	}
	if own := r.heldIn(agent.Workspace); own != "" {
		return c3po.Errorf(c3po.InvalidRequest, "the workspace %s has %s in it, or is part of it: an agent could rewrite what runs on this host", agent.Workspace, own).
			Suggest("Give it its own folder, for example ~/Code/project.")
	}
	for _, outer := range r.cfg.Workspaces {
		if err := leadsOut(agent.Workspace, outer); err != nil {
			return c3po.Errorf(c3po.InvalidRequest, "the workspace %s is in %s, where another agent may have replaced it by a link: %w", agent.Workspace, outer, err).
				Suggest("Look at it, and give the two agents folders beside each other.")
		}
	}
	return nil
}

// heldIn is what of the runner's own is in a workspace, or has the workspace in
// it.
func (r *Runner) heldIn(workspace string) string {
	folder := resolveLinks(workspace)
	for _, own := range append([]string{r.cfg.Places.AgentFile, r.cfg.Places.Login, r.cfg.Places.Personal, r.cfg.Binary}, r.cfg.Places.Own...) {
		if own == "" {
			continue
		}
		for _, name := range []string{own, resolveLinks(own)} {
			if Within(name, folder) || Within(name, workspace) || Within(folder, name) {
				return own
			}
		}
	}
	return ""
}

// leadsOut says why a workspace that is in another is not a folder of that.
func leadsOut(workspace, outer string) error {
	if workspace == outer || !Within(workspace, outer) {
		return nil
	}
	way, err := filepath.Rel(outer, workspace)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(outer)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = root.Stat(way)
	return err
}

// LeftBehind is a folder that all containers could once write to and none is
// given any more, if there are settings in it and none in their stead.
func (p Places) LeftBehind() string {
	if _, err := os.Lstat(p.Template); err == nil {
		return ""
	}
	for _, name := range []string{"settings.json", "CLAUDE.md", "plugins", "commands", "skills"} {
		if _, err := os.Lstat(filepath.Join(p.Shared, name)); err == nil {
			return p.Shared
		}
	}
	return ""
}

// Within says that a path is a folder or in it, by their names.
func Within(name, folder string) bool {
	way, err := filepath.Rel(folder, name)
	return err == nil && filepath.IsLocal(way)
}

// resolveLinks is a path without links, as far as it exists.
func resolveLinks(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		return real
	}
	if parent := filepath.Dir(name); parent != name {
		return filepath.Join(resolveLinks(parent), filepath.Base(name))
	}
	return name
}
