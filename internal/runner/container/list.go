package container

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Container is one that exists.
type Container struct {
	ID       string
	Name     string
	Image    string
	Status   string // running, exited, created, …
	ExitCode int
	Started  time.Time // zero if it never was
	Labels   map[string]string
}

// Running says that it has not ended.
func (c Container) Running() bool { return c.Status == "running" || c.Status == "paused" }

// List gives the containers that have all these labels, running or not.
func (c *CLI) List(ctx context.Context, labels map[string]string) ([]Container, error) {
	args := []string{"ps", "-aq"} // what it prints beyond ids differs between the programs
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		args = append(args, "--filter", "label="+name+"="+labels[name])
	}
	ids, err := c.ask(ctx, args...)
	if err != nil {
		return nil, err
	}
	var all []Container
	for _, id := range strings.Fields(ids) {
		out, err := c.ask(ctx, "inspect", id)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // it went in the meantime
		}
		one, err := parseInspect(out)
		if err != nil {
			return nil, c.commandError("inspect", err, "")
		}
		all = append(all, one...)
	}
	return all, nil
}

// parseInspect reads what all programs write alike.
func parseInspect(text string) ([]Container, error) {
	var raw []struct {
		ID    string `json:"Id"`
		Name  string
		State struct {
			Status    string
			ExitCode  int
			StartedAt string
		}
		Config struct {
			Image  string
			Labels map[string]string
		}
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, err
	}
	var all []Container
	for _, r := range raw {
		one := Container{
			ID: r.ID, Name: strings.TrimPrefix(r.Name, "/"), Image: r.Config.Image,
			Status: r.State.Status, ExitCode: r.State.ExitCode, Labels: r.Config.Labels,
		}
		// A container that was never started has the year 1.
		if started, err := time.Parse(time.RFC3339Nano, r.State.StartedAt); err == nil && started.Year() > 1 {
			one.Started = started
		}
		all = append(all, one)
	}
	return all, nil
}

// Stop asks a container to end and makes it end after a grace.
func (c *CLI) Stop(ctx context.Context, name string, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace+patience)
	defer cancel()
	seconds := max(1, int((grace+time.Second-1)/time.Second))
	cmd := c.command(ctx, "stop", "-t", strconv.Itoa(seconds), name)
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		return c.commandError("stop", err, said.String())
	}
	return nil
}

// Remove takes a container away, whatever it does. One that is not there is gone
// already.
func (c *CLI) Remove(ctx context.Context, name string) error {
	_, err := c.ask(ctx, "rm", "-f", name)
	return err
}

// Logs shows what a container has written: its last lines, all if there is no
// limit; and what it writes from now on, if it is followed.
func (c *CLI) Logs(ctx context.Context, name string, follow bool, lines int, streams Streams) error {
	args := []string{"logs"}
	if follow {
		args = append(args, "-f")
	}
	if lines > 0 {
		args = append(args, "--tail", strconv.Itoa(lines))
	}
	said := &tail{to: streams.Stderr}
	cmd := c.command(ctx, append(args, name)...)
	cmd.Stdout, cmd.Stderr = streams.Stdout, said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.commandError("logs", err, said.String())
	}
	return nil
}
