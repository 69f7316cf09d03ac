package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/image"
	"github.com/c3po-dev/c3po/internal/host/group"
	"github.com/c3po-dev/c3po/internal/runner/agentfile"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

const (
	modePush       = "push"
	pushTimeout    = 15 * time.Minute
	maxBundleBytes = 1 << 30 // bytes; what is cut is refused by git
)

// bundling prints what a branch of the workspace's repository has that is not
// known yet, as a bundle. It runs in a container without a network and without a
// secret: whatever the repository's own settings run, they run there.
const bundling = `
branch=$1; shift
export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD" GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
head=$(git rev-parse --verify --quiet "refs/heads/$branch^{commit}") || { echo "there is no branch $branch" >&2; exit 3; }
for known in "$@"; do
  [ "$known" != "$head" ] || exit 0
  if git cat-file -e "$known^{commit}" 2>/dev/null; then set -- "$@" "^$known"; fi
  shift
done
exec git bundle create -q - "refs/heads/$branch" "$@"`

// push brings the agent's branch to where its file says. No git of this host
// ever works in the workspace, or reads its settings: a container writes the
// new commits out, a repository of the runner's own takes them in as it would
// take them from any server, and is what is pushed.
func (k *keeper) push(ctx context.Context) error {
	to := k.agent.Push
	if to == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	if Within(resolveLinks(strings.TrimPrefix(to.To, "file://")), resolveLinks(k.agent.Workspace)) {
		// The hooks of that repository would run here.
		return c3po.Errorf(c3po.InvalidRequest, "%s is in the workspace of %s", to.To, k.agent.Name).Suggest("Push to a repository elsewhere.")
	}
	clone := filepath.Join(k.folder, "push.git")
	known, err := openClone(ctx, clone)
	if err != nil {
		return err
	}
	bundle := filepath.Join(k.folder, "push.bundle")
	defer os.Remove(bundle)
	if err := k.bundle(ctx, bundle, to.Branch, known); err != nil {
		return err
	}
	if err := takeIn(ctx, clone, bundle, to.Branch); err != nil {
		return err
	}
	return pushClone(ctx, clone, *to, k.cfg.Environ)
}

// bundle lets a container write the new commits of a branch into a file.
func (k *keeper) bundle(ctx context.Context, file, branch string, known []string) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return cannotMake(file, err)
	}
	l := launch{mode: modePush, agent: k.agent}
	spec := container.Spec{
		Name: fmt.Sprintf("c3po-%s-push-%d", k.agent.Name, os.Getpid()), Labels: k.labels(l), Image: k.agent.Image,
		WorkDir: image.Workspace, User: ownerFor(k.agent.Workspace).String(), Network: agentfile.NetworkNone,
		Mounts:     []mount{{Host: k.agent.Workspace, Inside: image.Workspace, ReadOnly: true}},
		Entrypoint: "/bin/sh", Args: append([]string{"-c", bundling, "sh", branch}, known...),
	}
	if spec.Image == "" {
		spec.Image = image.Name
	}
	k.setLimits(ctx, &spec, k.agent.Limits)
	said := &boundedBuffer{Buffer: &bytes.Buffer{}, left: 2 << 10}
	exit, err := k.cfg.Containers.Run(ctx, spec, container.Streams{Stdout: &boundedLog{file: out, left: maxBundleBytes}, Stderr: said})
	err = errors.Join(err, out.Close())
	if err == nil && exit != 0 {
		err = c3po.Errorf(c3po.InvalidRequest, "the commits of %s cannot be read: %s", k.agent.Name, strings.Join(strings.Fields(said.String()), " ")).
			Suggest("The workspace must be a git repository with a branch %s, and the image must have git.", branch)
	}
	return err
}

// openClone gives the tips that a repository of the runner's own has already,
// and makes it if it is not there.
func openClone(ctx context.Context, clone string) ([]string, error) {
	if _, err := os.Lstat(filepath.Join(clone, "HEAD")); err != nil {
		if _, err := git(ctx, "", nil, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", clone); err != nil {
			return nil, err
		}
	}
	tips, err := git(ctx, clone, nil, "for-each-ref", "--format=%(objectname)", "--count=100")
	return strings.Fields(tips), err
}

// takeIn fetches a branch from a bundle, whoever has written that. An empty one
// has nothing new.
func takeIn(ctx context.Context, clone, bundle, branch string) error {
	if info, err := os.Stat(bundle); err != nil || info.Size() == 0 {
		return err
	}
	_, err := git(ctx, clone, nil, "-c", "transfer.fsckObjects=true", "-c", "protocol.allow=never", "-c", "protocol.file.allow=always",
		"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head",
		bundle, "+refs/heads/"+branch+":refs/heads/"+branch)
	return err
}

// pushClone pushes with the person's own settings, which may hold what lets them
// in, and with none of the workspace's. Nothing that is there is overwritten.
func pushClone(ctx context.Context, clone string, to agentfile.Push, environ []string) error {
	if environ == nil {
		environ = os.Environ()
	}
	_, err := git(ctx, clone, environ, "push", "--quiet", "--no-verify", "--recurse-submodules=no", "--", to.To, "refs/heads/"+to.Branch+":refs/heads/"+to.Branch)
	return err
}

// git runs git in a repository of ours. Without an environment it is one that
// has no settings but those given.
func git(ctx context.Context, clone string, environ []string, args ...string) (string, error) {
	safe := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"}
	if clone != "" {
		safe = append(safe, "--git-dir="+clone)
	}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	if environ == nil {
		environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = filepath.Dir(clone), append(gitEnvironment(environ), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"), pauseTimeout
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &boundedBuffer{Buffer: &complaint, left: 2 << 10}
	group.Own(cmd)
	cmd.Cancel = func() error { return group.End(cmd) } // with what it has started
	if err := cmd.Run(); err != nil {
		return "", c3po.Errorf(c3po.InvalidRequest, "git %s: %w: %s", verbOf(args), err, strings.Join(strings.Fields(complaint.String()), " ")).
			Suggest("Check `push` in agents.yaml, and that git may push there.")
	}
	return out.String(), nil
}

// gitEnvironment is an environment without what points git at another repository.
func gitEnvironment(environ []string) []string {
	var kept []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE":
		default:
			kept = append(kept, v)
		}
	}
	return kept
}

func verbOf(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
			continue
		}
		return args[i]
	}
	return ""
}

// A boundedBuffer keeps the beginning of what is written to it.
type boundedBuffer struct {
	*bytes.Buffer
	left int
}

func (b *boundedBuffer) Write(data []byte) (int, error) {
	part := data[:min(len(data), b.left)]
	b.left -= len(part)
	b.Buffer.Write(part)
	return len(data), nil
}
