package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/image"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
	"github.com/c3po-dev/c3po/internal/runner/container"
	"github.com/c3po-dev/c3po/internal/runner/streamfmt"
	"github.com/c3po-dev/c3po/plugin"
)

// The modes of a container, which its entrypoint reads: an agent must have a
// coordinator, a prompt need not, and a shell is asked nothing.
const (
	modePrompt = "prompt"
	modeAgent  = "agent"
	modeShell  = "shell"
)

const (
	secretsInside = "/run/c3po" // #nosec G101 -- a folder
	envInside     = secretsInside + "/env"
	binaryInside  = "/usr/local/bin/c3po"

	entrypointInside = "/opt/c3po/entrypoint.sh"

	maxHandoffBytes = 1 << 10 // more than any id has
)

// A variable is one of a container's environment.
type variable struct{ name, value string }

// A launch is one container to be run.
type launch struct {
	mode   string
	agent  agentfile.Agent // of a prompt or a shell: the folder it works in, and no name
	as     *identity       // nil if it is nobody
	prompt string
	how    Streaming
	again  bool      // build the image although it is current
	extra  []mount   // further files
	folder string    // where the runner keeps what belongs to the run
	log    io.Writer // a copy of the output; none if nil
	stdin  io.Reader // none if nil
	tty    bool
	// instead of a shell, in its mode
	instead []string
}

type mount = container.Mount

// launch runs a container to its end and says how it ended. An error means that
// there was none.
func (r *Runner) launch(ctx context.Context, l launch) (exit int, err error) {
	if err := r.CheckWorkspace(l.agent); err != nil {
		return 0, err
	}
	in, err := r.login(l.agent)
	if err != nil && l.mode != modeShell {
		return 0, err
	}
	user := ownerFor(l.agent.Workspace)
	if err := r.cfg.Places.prepare(user); err != nil {
		return 0, err
	}
	name := l.agent.Image
	if name == "" {
		if name, err = r.ensureImage(ctx, l.again); err != nil {
			return 0, err
		}
	}
	secrets, err := os.MkdirTemp(l.folder, "launch-")
	if err != nil {
		return 0, cannotMake(l.folder, err)
	}
	defer func() {
		if gone := os.RemoveAll(secrets); gone != nil {
			r.cfg.Log.WarnContext(ctx, "cannot remove what a container was given", "folder", secrets, "err", gone)
		}
	}()
	spec, err := r.spec(l, in, user, secrets)
	if err != nil {
		return 0, err
	}
	spec.Image, spec.Pull = name, l.agent.Image != "" // ours is nowhere to be had
	r.setLimits(ctx, &spec, l.agent.Limits)
	if l.as != nil && r.usesRelay(l.agent) {
		end, err := r.relay(ctx, secrets, user)
		if err != nil {
			return 0, err
		}
		defer end()
	}
	return r.run(ctx, l, spec)
}

// spec is what the runtime is asked for.
func (r *Runner) spec(l launch, in login, user owner, secrets string) (container.Spec, error) {
	p, home := r.cfg.Places, image.Home
	own, err := r.home(l, user)
	if err != nil {
		return container.Spec{}, err
	}
	spec := container.Spec{
		Name: fmt.Sprintf("claude-code-%d", os.Getpid()), Labels: r.labels(l),
		WorkDir: image.Workspace, User: user.String(), Stdin: l.stdin != nil, Terminal: l.tty,
		StopGrace: l.agent.Limits.StopGrace, Network: networkOf(l.agent),
		Mounts: []mount{
			{Host: own.claude, Inside: path.Join(home, ".claude")},
			{Host: own.rc, Inside: path.Join(home, claudeRC)},
			{Host: p.Settings, Inside: path.Join(home, "claude-docker.yaml"), ReadOnly: true},
			{Host: l.agent.Workspace, Inside: image.Workspace},
			{Host: secrets, Inside: secretsInside, ReadOnly: true},
		},
	}
	if l.agent.Name != "" {
		spec.Name = fmt.Sprintf("c3po-%s-%d", l.agent.Name, os.Getpid())
	}
	if in.file != "" {
		spec.Mounts = append(spec.Mounts, mount{Host: in.file, Inside: path.Join(home, ".claude", ".credentials.json"), ReadOnly: true})
	}
	if r.cfg.Binary != "" {
		spec.Mounts = append(spec.Mounts, mount{Host: r.cfg.Binary, Inside: binaryInside, ReadOnly: true})
	}
	spec.Mounts = append(spec.Mounts, l.extra...)
	open := []variable{{"C3PO_MODE", l.mode}, {"C3PO_ENV_FILE", envInside}, {"HOME", home}, {"DISABLE_AUTOUPDATER", "1"}}
	secret := append([]variable(nil), in.env...)
	for _, own := range l.agent.Env {
		value := own.Value
		if own.Inherit {
			value = r.cfg.Getenv(own.Name)
		}
		secret = append(secret, variable{own.Name, value})
	}
	if len(l.agent.Init) > 0 {
		commands, err := json.Marshal(l.agent.Init)
		if err != nil {
			return spec, err
		}
		open = append(open, variable{"AGENT_INIT", base64.StdEncoding.EncodeToString(commands)})
	}
	if l.as != nil {
		more, err := r.introduce(&spec, l, secrets, user)
		if err != nil {
			return spec, err
		}
		open = append(open, more...)
	}
	if err := r.command(&spec, l, user); err != nil {
		return spec, err
	}
	for _, v := range open {
		spec.Env = append(spec.Env, container.Variable{Name: v.name, Value: v.value})
	}
	return spec, writeOwned(filepath.Join(secrets, "env"), exports(secret), user, secrets)
}

// introduce gives a container the identity it acts with.
func (r *Runner) introduce(spec *container.Spec, l launch, secrets string, user owner) ([]variable, error) {
	address, near := inside(r.cfg.Coordinator.Client.URL, r.cfg.Containers.HostName(), runtime.GOOS)
	// A runtime that works in a virtual machine has a name for this host.
	spec.ReachHost = near && runtime.GOOS != "linux" && spec.Network != agentfile.NetworkNone
	folder := filepath.Join(secrets, "config")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, cannotMake(folder, err)
	}
	mine := paths.Credentials{URL: address, Token: l.as.Token, CA: r.cfg.Coordinator.CA, Unproved: true}
	if r.usesRelay(l.agent) {
		mine.Sockets = map[string]string{address: path.Join(secretsInside, socketName)}
	}
	if err := mine.Write(folder); err != nil {
		return nil, err
	}
	if err := user.takeAll(folder, filepath.Join(folder, "credentials.json")); err != nil {
		return nil, err
	}
	spec.Mounts = append(spec.Mounts, mount{Host: folder, Inside: path.Join(image.Home, ".config", "c3po"), ReadOnly: true})
	open := []variable{{"C3PO_COORDINATOR_URL", address}, {"C3PO_AGENT_ID", string(l.as.ID)}, {"C3PO_RUN", l.as.run()}}
	if l.as.Space != "" {
		open = append(open, variable{"C3PO_SPACE", string(l.as.Space)})
	}
	if l.mode != modeAgent {
		return open, nil // mail does not change what a prompt prints
	}
	open = append(open, variable{"C3PO_UNATTENDED", "answer"})
	handoff, err := r.handoff(l.agent.Name, user)
	if err != nil {
		return nil, err
	}
	spec.Mounts = append(spec.Mounts, mount{Host: handoff, Inside: image.Handoff})
	return append(open, variable{"CLAUDE_DOCKER_TRIGGER_HANDOFF", image.Handoff}), nil
}

// command says what runs in the container.
func (r *Runner) command(spec *container.Spec, l launch, user owner) error {
	withPlugin := false
	if l.as != nil && l.agent.Client == agentfile.DefaultClient && r.cfg.Binary != "" {
		folder, err := r.writePlugin(user)
		if err != nil {
			return err
		}
		spec.Mounts = append(spec.Mounts, mount{Host: folder, Inside: pluginInside, ReadOnly: true})
		withPlugin = true
	}
	if l.mode == modeShell {
		// Past the entrypoint and its checks, but not past what the agent would have.
		argv := l.instead
		if argv == nil {
			argv = []string{"bash"}
		}
		first := `[ ! -r "$C3PO_ENV_FILE" ] || . "$C3PO_ENV_FILE"; `
		if withPlugin {
			// Whoever types claude there has the plugin too.
			first += `claude() { command claude --plugin-dir ` + pluginInside + ` "$@"; }; export -f claude; `
		}
		spec.Entrypoint = "bash"
		spec.Args = append([]string{"-c", first + `exec "$@"`, "bash"}, argv...)
		return nil
	}
	spec.Args, _ = command(l.agent, l.prompt, l.how, withPlugin)
	if l.agent.Image == "" {
		return nil
	}
	entrypoint, err := r.entrypoint()
	spec.Mounts = append(spec.Mounts, mount{Host: entrypoint, Inside: entrypointInside, ReadOnly: true})
	spec.Entrypoint, spec.Args = "bash", append([]string{entrypointInside}, spec.Args...)
	return err
}

// run runs the container and shows what it prints.
func (r *Runner) run(ctx context.Context, l launch, spec container.Spec) (int, error) {
	streams := container.Streams{Stdin: l.stdin, Stdout: r.cfg.Stdout, Stderr: r.cfg.Stderr}
	var shown chan error
	var into *io.PipeWriter
	if l.how == Formatted && (l.agent.Client == "" || l.agent.Client == agentfile.DefaultClient) && l.mode != modeShell {
		var from *io.PipeReader
		from, into = io.Pipe()
		streams.Stdout, shown = into, make(chan error, 1)
		go func() {
			_, err := streamfmt.Copy(r.cfg.Stdout, from, streamfmt.Config{Colour: r.cfg.Colour})
			// What cannot be shown must not hold up the container.
			_, _ = io.Copy(io.Discard, from)
			shown <- err
		}()
	}
	if l.log != nil && !l.tty {
		streams.Stdout, streams.Stderr = io.MultiWriter(streams.Stdout, l.log), io.MultiWriter(streams.Stderr, l.log)
	}
	exit, err := r.cfg.Containers.Run(ctx, spec, streams)
	if shown != nil {
		_ = into.Close()
		if bad := <-shown; bad != nil {
			r.cfg.Log.WarnContext(ctx, "cannot show all of the output", "err", bad)
		}
	}
	return exit, err
}

// handoff makes the file in which an image may say that its agent has another
// id, empty. It is a new one each time: what a container has made of the last
// leads nowhere.
func (r *Runner) handoff(name string, user owner) (string, error) {
	file := r.handoffFile(name)
	if err := os.RemoveAll(file); err != nil {
		return "", cannotMake(file, err)
	}
	if err := writeNew(file, nil); err != nil {
		return "", cannotMake(file, err)
	}
	return file, user.takeAll(file)
}

func (r *Runner) handoffFile(name string) string {
	return filepath.Join(r.cfg.Places.Handoffs, name+"-trigger-handoff")
}

// handedOver is the id that a container has left, if it is one.
func (r *Runner) handedOver(name string) (c3po.AgentID, bool) {
	file, err := os.Open(r.handoffFile(name))
	if err != nil {
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxHandoffBytes))
	if err != nil {
		return "", false
	}
	id, err := c3po.ParseAgentID(strings.TrimSpace(string(data)))
	return id, err == nil
}

// writePlugin puts our plugin where containers can be given it.
func (r *Runner) writePlugin(user owner) (string, error) {
	folder := filepath.Join(r.cfg.Places.State, "plugin")
	err := fs.WalkDir(plugin.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		target := filepath.Join(folder, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// #nosec G301 -- nothing of it is secret, and another user reads it
			return os.MkdirAll(target, 0o755)
		}
		data, err := plugin.Files.ReadFile(name)
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(target); err == nil && string(old) == string(data) {
			return nil
		}
		if err := paths.WriteFile(target, data); err != nil {
			return err
		}
		return os.Chmod(target, 0o755) // #nosec G302 -- one of them is a program
	})
	if err != nil {
		return "", cannotMake(folder, err)
	}
	return folder, nil
}

// exports is a script that sets variables, whatever is in them.
func exports(all []variable) []byte {
	var script strings.Builder
	for _, v := range all {
		fmt.Fprintf(&script, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, "'", `'\''`))
	}
	return []byte(script.String())
}

func writeOwned(name string, data []byte, user owner, also ...string) error {
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return cannotMake(name, err)
	}
	if err := user.takeAll(append(also, name)...); err != nil {
		return errors.Join(cannotMake(name, err))
	}
	return nil
}
