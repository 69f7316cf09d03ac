package container

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
)

// A Build is an image to make.
type Build struct {
	Image   string
	Folder  string // with the Dockerfile and what it takes
	Args    map[string]string
	Labels  map[string]string
	Network string   // of its commands; the usual one if empty
	Flags   []string // besides
}

// Build makes an image and shows on out how it goes.
func (c *CLI) Build(ctx context.Context, b Build, out io.Writer) error {
	args := []string{"build", "-t", b.Image}
	for _, name := range slices.Sorted(maps.Keys(b.Labels)) {
		args = append(args, "--label", name+"="+b.Labels[name])
	}
	for _, name := range slices.Sorted(maps.Keys(b.Args)) {
		args = append(args, "--build-arg", name+"="+b.Args[name])
	}
	if b.Network != "" {
		args = append(args, "--network", b.Network)
	}
	args = append(append(args, b.Flags...), b.Folder)
	said := &tail{to: out}
	cmd := c.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.commandError("build", err, said.String())
	}
	return nil
}

// ImageLabel is a label of an image, empty if it has none of that name. found
// says whether there is such an image at all.
func (c *CLI) ImageLabel(ctx context.Context, image, label string) (value string, found bool, err error) {
	value, err = c.ask(ctx, "image", "inspect", "--format", `{{ index .Config.Labels "`+label+`" }}`, image)
	if err != nil {
		// No image and no engine end alike; only one of them is an error here.
		if down := c.answers(ctx); down != nil {
			return "", false, down
		}
		return "", false, nil
	}
	if strings.Contains(value, "<no value>") || strings.Contains(value, "<nil>") {
		value = ""
	}
	return value, true, nil
}

// Pull fetches an image and shows on out how it goes.
func (c *CLI) Pull(ctx context.Context, image string, out io.Writer) error {
	said := &tail{to: out}
	cmd := c.command(ctx, "pull", image)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.commandError("pull", err, said.String())
	}
	return nil
}
