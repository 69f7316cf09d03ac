package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Spec is a container to run. Unless it says otherwise it has no capabilities
// and can get none.
type Spec struct {
	Name       string
	Image      string
	Pull       bool // the image may be fetched if it is not here
	Labels     map[string]string
	Env        []Variable
	Mounts     []Mount
	WorkDir    string
	User       string
	Network    string
	Entrypoint string
	Args       []string
	Stdin      bool // it reads what Streams has
	Terminal   bool // it has the terminal of this process
	ReachHost  bool // HostName means this host
	Memory     string
	CPUs       string
	PIDs       int
	StopGrace  time.Duration // between the request to end and the end; 10 s if 0
}

// A Variable is one of a container's environment.
type Variable struct{ Name, Value string }

// A Mount is a file or folder of this host within a container.
type Mount struct {
	Host     string
	Inside   string
	ReadOnly bool
}

// Streams are what a container reads and writes. What is nil is empty.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Run runs a container to its end and removes it. Its exit code is asked for
// afterwards, since not every program hands it on. When ctx ends the container
// is stopped: it is asked to end, and after its grace made to. An error means
// that it never ran.
func (c *CLI) Run(ctx context.Context, spec Spec, streams Streams) (exit int, err error) {
	if spec.StopGrace <= 0 {
		spec.StopGrace = 10 * time.Second
	}
	if err := makeFolders(spec.Mounts); err != nil {
		return 0, err
	}
	args, env, remove, err := c.arguments(spec)
	if err != nil {
		return 0, err
	}
	defer remove()

	// The program outlives ctx: it ends when its container has.
	after := context.WithoutCancel(ctx)
	cmd := c.command(after, args...)
	if spec.Terminal {
		together(cmd)
	}
	cmd.Env = append(slices.Clone(c.environ), env...)
	said := &tail{to: streams.Stderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.Stdin, streams.Stdout, said
	if spec.Terminal {
		cmd.Stderr = streams.Stderr // which must stay the terminal itself
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, c.commandError("run", err, "")
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var clientErr error
	select {
	case clientErr = <-ended:
	case <-ctx.Done():
		clientErr = c.stopAndWait(after, spec, cmd, ended)
	}
	defer func() {
		// It is ours by its labels, and is cleared away with the other orphans.
		if err := c.Remove(after, spec.Name); err != nil {
			c.log.WarnContext(after, "container not removed", "container", spec.Name, "err", err)
		}
	}()
	return c.outcome(after, spec, clientErr, said.String())
}

// stopAndWait stops a container whose program still runs. It may not have been
// made yet, so it is asked to stop until the program has ended.
func (c *CLI) stopAndWait(ctx context.Context, spec Spec, cmd *exec.Cmd, ended <-chan error) error {
	deadline := time.NewTimer(spec.StopGrace + patience/2)
	defer deadline.Stop()
	for {
		_ = c.Stop(ctx, spec.Name, spec.StopGrace) // not there yet, or gone: seen below
		again := time.NewTimer(250 * time.Millisecond)
		select {
		case err := <-ended:
			again.Stop()
			return err
		case <-again.C:
		case <-deadline.C:
			again.Stop()
			_ = cmd.Process.Kill() // its container is removed next
			return <-ended
		}
	}
}

// outcome asks how a container ended.
func (c *CLI) outcome(ctx context.Context, spec Spec, clientErr error, said string) (int, error) {
	status, code, err := c.state(ctx, spec.Name)
	if err == nil && status != "exited" && status != "stopped" && status != "dead" && status != "created" {
		// The program went without its container, for example because the
		// connection to the engine broke.
		_ = c.Stop(ctx, spec.Name, spec.StopGrace)
		status, code, err = c.state(ctx, spec.Name)
	}
	if err == nil && status != "created" && status != "configured" && status != "initialized" {
		return code, nil
	}
	if clientErr == nil {
		clientErr = errors.New("there is no trace of the container")
	}
	return 0, c.commandError("run", clientErr, said)
}

func (c *CLI) state(ctx context.Context, name string) (status string, code int, err error) {
	out, err := c.ask(ctx, "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", name)
	if err != nil {
		return "", 0, err
	}
	if _, err := fmt.Sscanf(out, "%s %d", &status, &code); err != nil {
		return "", 0, c.commandError("inspect", err, out)
	}
	return status, code, nil
}

// arguments are those of the program, and what of the variables it gets by its
// own environment. remove takes away the file that has the rest.
func (c *CLI) arguments(spec Spec) (args, env []string, remove func(), err error) {
	args = append([]string{"run", "--name", spec.Name}, c.quirks.run...)
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	if !spec.Pull {
		args = append(args, "--pull=never")
	}
	args = append(args, "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
	for _, name := range slices.Sorted(maps.Keys(spec.Labels)) {
		add("--label", name+"="+spec.Labels[name])
	}
	for _, m := range spec.Mounts {
		// A colon parts the sides of a mount; the drive of Windows has one of its own.
		if strings.Contains(strings.TrimPrefix(m.Host, filepath.VolumeName(m.Host)), ":") {
			return nil, nil, nil, c3po.Errorf(c3po.InvalidRequest, "%q cannot be mounted: it has a colon in it", m.Host).Suggest("Rename the folder.")
		}
		mount := m.Host + ":" + m.Inside
		if m.ReadOnly {
			mount += ":ro"
		}
		add("-v", mount)
	}
	add("--workdir", spec.WorkDir)
	add("--user", spec.User)
	add("--network", spec.Network)
	add("--memory", spec.Memory)
	add("--cpus", spec.CPUs)
	if spec.PIDs > 0 {
		add("--pids-limit", strconv.Itoa(spec.PIDs))
	}
	if spec.ReachHost {
		args = append(args, c.quirks.reach...)
	}
	if spec.Stdin {
		args = append(args, "-i")
	}
	if spec.Terminal {
		args = append(args, "-t")
	}
	add("--entrypoint", spec.Entrypoint)
	flags, env, remove, err := c.variables(spec.Env)
	if err != nil {
		return nil, nil, nil, err
	}
	args = append(append(args, flags...), spec.Image)
	return append(args, spec.Args...), env, remove, nil
}

// makeFolders makes what is to be mounted and is not there: Podman fails without
// it, and Docker would make it for root.
func makeFolders(mounts []Mount) error {
	for _, m := range mounts {
		if _, err := os.Stat(m.Host); err == nil || m.ReadOnly {
			continue
		}
		if err := os.MkdirAll(m.Host, 0o700); err != nil {
			return c3po.Errorf(c3po.InvalidRequest, "cannot make the folder %s: %w", m.Host, err).Suggest("Make it yourself, or check who owns the one above it.")
		}
	}
	return nil
}

// tail keeps the end of what was written, for an error.
type tail struct {
	to   io.Writer
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - most; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	if t.to != nil {
		// Who listens does not decide whether the container runs on.
		_, _ = t.to.Write(p)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
