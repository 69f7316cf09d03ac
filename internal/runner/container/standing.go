package container

import (
	"context"
	"strings"
)

// CommandLine is the program with the arguments that run a container in the foreground
// and remove it when it ends, for somebody else to start. It has no variables.
func (c *CLI) CommandLine(ctx context.Context, spec Spec) ([]string, error) {
	if c.quirks.name == "docker" {
		// Without root, its root is who runs it, and every other user is nobody.
		if security, err := c.ask(ctx, "info", "--format", "{{.SecurityOptions}}"); err == nil && strings.Contains(security, "rootless") {
			spec.User = "0:0"
		}
	}
	args, _, remove, err := c.arguments(spec)
	if err != nil {
		return nil, err
	}
	remove()
	return append([]string{c.program, args[0], "--rm"}, args[1:]...), nil
}
