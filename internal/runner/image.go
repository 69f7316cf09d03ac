package runner

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/image"
	"github.com/c3po-dev/c3po/internal/runner/container"
)

// claudeVariable names a Claude Code for Linux that is built in, for a host that
// cannot fetch one.
const claudeVariable = "C3PO_CLAUDE_BINARY"

// ensureImage builds our image if it is not there, if it was built from other
// files, or if it was asked for again.
func (r *Runner) ensureImage(ctx context.Context, again bool) (string, error) {
	version := cmp.Or(r.cfg.Getenv(image.VersionArg), image.ClaudeVersion)
	want := image.Hash(version)
	if !again {
		built, found, err := r.cfg.Containers.ImageLabel(ctx, image.Name, image.HashLabel)
		if err != nil {
			return "", err
		}
		if found && built == want {
			return image.Name, nil
		}
	}
	folder, err := os.MkdirTemp("", "c3po-image-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	if err := image.Write(folder); err != nil {
		return "", err
	}
	if program := r.cfg.Getenv(claudeVariable); program != "" {
		if err := image.AddClaude(folder, program); err != nil {
			return "", c3po.Errorf(c3po.InvalidRequest, "cannot read %s: %w", program, err).Suggest("Correct or unset %s.", claudeVariable)
		}
	}
	r.cfg.Log.InfoContext(ctx, "building the image", "image", image.Name, "claude_code", version)
	err = r.cfg.Containers.Build(ctx, container.Build{
		Image: image.Name, Folder: folder, Args: map[string]string{image.VersionArg: version}, Labels: map[string]string{image.HashLabel: want},
	}, r.cfg.Stderr)
	return image.Name, err
}

// entrypoint puts what runs first in our image where an image of somebody else
// can be given it.
func (r *Runner) entrypoint() (string, error) {
	folder := filepath.Join(r.cfg.Places.State, "image")
	// #nosec G301 -- nothing of it is secret, and another user reads it
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", cannotMake(folder, err)
	}
	return filepath.Join(folder, "entrypoint.sh"), image.Write(folder)
}
