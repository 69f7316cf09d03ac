package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// Places are the files and folders of the runner on this host. Containers may
// write to none of them but what Homes and Handoffs hold for each.
type Places struct {
	AgentFile string   // agents.yaml
	Template  string   // a folder of the person's: what every ~/.claude begins with
	Homes     string   // a folder: the ~/.claude and ~/.claude.json of each agent
	Settings  string   // their ~/claude-docker.yaml
	Login     string   // the token that setup has stored
	Personal  string   // what the person's own Claude Code is logged in with
	Handoffs  string   // a folder: NAME-trigger-handoff of each agent
	State     string   // a folder: what the runner remembers, never seen by a container
	Shared    string   // the ~/.claude that all containers once could write to; no longer used
	Own       []string // the folders of c3po, which no workspace may hold or be in
}

// legacy is the folder of claude-docker, whose settings are read where it is.
const legacy = ".claude-docker"

// FindPlaces says where everything is, or would be: in our own folders, or, what
// only the person writes, in ~/.claude-docker if that exists. It makes nothing.
func FindPlaces(home, config, state string) Places {
	own := filepath.Join(state, "agent")
	p := Places{
		AgentFile: filepath.Join(config, agentfile.Name),
		Template:  filepath.Join(config, "claude"),
		Homes:     filepath.Join(own, "homes"),
		Settings:  filepath.Join(own, "claude-docker.yaml"),
		Login:     filepath.Join(config, "oauth-token"),
		Personal:  filepath.Join(home, ".claude", ".credentials.json"),
		Handoffs:  filepath.Join(own, "handoff"),
		State:     own,
		Shared:    filepath.Join(own, "claude"),
		Own:       []string{config, state},
	}
	old := filepath.Join(home, legacy)
	if info, err := os.Stat(old); err == nil && info.IsDir() {
		p.AgentFile, p.Login, p.Shared = filepath.Join(old, agentfile.Name), filepath.Join(old, ".oauth-token"), old
		p.Settings = filepath.Join(old, "claude-docker.yaml")
		p.Own = append(p.Own, old)
	}
	return p
}

// prepare makes what all containers are given of the places.
func (p Places) prepare(user owner) error {
	for _, dir := range []string{p.Homes, p.Handoffs, p.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return cannotMake(dir, err)
		}
	}
	// One that is there is a person's.
	if err := writeNew(p.Settings, []byte("streamLogging: true\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return cannotMake(p.Settings, err)
	}
	return user.takeAll(p.Settings)
}

// writeNew makes a file that must not be there, not even as a link.
func writeNew(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// StreamLogging is what claude-docker.yaml says of it: whether agents show what
// they do as they do it, unless a flag says otherwise. It is so if there is no file.
func (p Places) StreamLogging() (bool, error) {
	text, err := os.ReadFile(p.Settings)
	if err != nil {
		return true, nil
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if key != "streamLogging" {
			continue
		}
		value, _, _ = strings.Cut(value, "#")
		switch strings.TrimSpace(value) {
		case "true", "yes", "on":
			return true, nil
		case "false", "no", "off":
			return false, nil
		default:
			return true, c3po.Errorf(c3po.InvalidRequest, "%s: streamLogging is neither true nor false", p.Settings).Suggest("Write streamLogging: true, or false.")
		}
	}
	return true, nil
}

func cannotMake(name string, err error) error {
	return c3po.Errorf(c3po.InvalidRequest, "cannot make %s: %w", name, err).Suggest("Check who owns its folder.")
}
