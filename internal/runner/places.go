package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agentfile"
)

// Places are the files and folders of the runner on this host.
type Places struct {
	AgentFile string // agents.yaml
	Claude    string // a folder: the ~/.claude of all containers
	ClaudeRC  string // their ~/.claude.json
	Settings  string // their ~/claude-docker.yaml
	Login     string // the token that setup has stored
	Personal  string // what the person's own Claude Code is logged in with
	Handoffs  string // a folder: NAME-trigger-handoff of each agent
	State     string // a folder: what the runner remembers, never seen by a container
}

// legacy is the folder of claude-docker, which goes on to be used where it is.
const legacy = ".claude-docker"

// FindPlaces says where everything is, or would be: in our own folders, or in
// ~/.claude-docker if that exists. It makes nothing.
func FindPlaces(home, config, state string) Places {
	own := filepath.Join(state, "agent")
	p := Places{
		AgentFile: filepath.Join(config, agentfile.Name),
		Claude:    filepath.Join(own, "claude"),
		ClaudeRC:  filepath.Join(own, "claude.json"),
		Settings:  filepath.Join(own, "claude-docker.yaml"),
		Login:     filepath.Join(config, "oauth-token"),
		Personal:  filepath.Join(home, ".claude", ".credentials.json"),
		Handoffs:  filepath.Join(own, "handoff"),
		State:     own,
	}
	old := filepath.Join(home, legacy)
	if info, err := os.Stat(old); err == nil && info.IsDir() {
		p.AgentFile, p.Claude = filepath.Join(old, agentfile.Name), old
		p.ClaudeRC, p.Settings = filepath.Join(old, ".claude.json"), filepath.Join(old, "claude-docker.yaml")
		p.Login, p.Handoffs = filepath.Join(old, ".oauth-token"), filepath.Join(old, "agents")
	}
	return p
}

// prepare makes what containers are given of the places, for the user they run
// as.
func (p Places) prepare(user owner) error {
	for _, dir := range []string{p.Claude, p.Handoffs, p.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return cannotMake(dir, err)
		}
	}
	for name, text := range map[string]string{p.ClaudeRC: "{}\n", p.Settings: "streamLogging: true\n"} {
		// O_EXCL: one that is there is a person's.
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = file.WriteString(text)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			return cannotMake(name, err)
		}
	}
	return user.takeAll(p.Claude, p.ClaudeRC, p.Settings)
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
