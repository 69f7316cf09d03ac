// Package container runs containers through the command line of Docker, Podman or
// Finch. There is one code path: it uses only what all of them do alike, and a
// small record per program says where they differ. No value of a variable is ever
// an argument, where every user of the host could read it.
package container

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Runtimes are the programs that are looked for, in this order.
func Runtimes() []string { return []string{"docker", "podman", "finch"} }

// A Config says which program is used. The zero value of every field is usable.
type Config struct {
	Runtime string   // its name or path; else the first of Runtimes whose engine answers
	Flag    string   // that chooses it, as advice names it; --runtime if empty
	Environ []string // that of the program; that of this process if nil
	Log     *slog.Logger
}

// A CLI is a program that runs containers.
type CLI struct {
	program string
	flag    string
	quirks  quirks
	environ []string
	log     *slog.Logger
}

// quirks is where the programs differ.
type quirks struct {
	name     string
	hostName string   // by which a container reaches this host
	run      []string // arguments that every run needs
	reach    []string // arguments without which hostName means nothing
}

// quirksOf tells the programs apart by what they say of themselves: what is called
// docker may well be Podman.
func quirksOf(version string, rootless bool) quirks {
	switch version := strings.ToLower(version); {
	case strings.Contains(version, "podman"):
		q := quirks{name: "podman", hostName: "host.containers.internal"} // older ones refuse host-gateway
		// A folder of the person's is mounted without another label, which would
		// stay on it for good.
		q.run = []string{"--security-opt", "label=disable"}
		if rootless {
			q.run = append(q.run, "--userns=keep-id") // else nobody but root in the container is the person
		}
		return q
	case strings.Contains(version, "finch"), strings.Contains(version, "nerdctl"):
		return quirks{name: "finch", hostName: "host.docker.internal", reach: []string{"--add-host=host.docker.internal:host-gateway"}}
	default:
		return quirks{name: "docker", hostName: "host.docker.internal", reach: []string{"--add-host=host.docker.internal:host-gateway"}}
	}
}

// Find looks for a program that runs containers.
func Find(ctx context.Context, cfg Config) (*CLI, error) {
	if cfg.Environ == nil {
		cfg.Environ = os.Environ()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Flag = cmp.Or(cfg.Flag, "--runtime")
	names := Runtimes()
	if cfg.Runtime != "" {
		names = []string{cfg.Runtime}
	}
	var there []string
	for _, name := range names {
		if program := lookPath(name, cfg.Environ); program != "" {
			there = append(there, program)
		}
	}
	switch {
	case len(there) == 0 && cfg.Runtime != "":
		return nil, c3po.Errorf(c3po.InvalidRequest, "there is no program %q", cfg.Runtime).
			Suggest("Install it, or leave %s out to take the first of %s.", cfg.Flag, strings.Join(Runtimes(), ", "))
	case len(there) == 0:
		return nil, c3po.Errorf(c3po.InvalidRequest, "there is no program that runs containers").
			Suggest("Install one of %s; on Debian: apt install podman.", strings.Join(Runtimes(), ", "))
	}
	var first error
	for _, program := range there {
		c, err := open(ctx, program, cfg)
		// Where there is a choice the first one that works is taken: often the
		// program is installed and its engine does not run.
		if err == nil && len(there) > 1 {
			err = c.answers(ctx)
		}
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func open(ctx context.Context, program string, cfg Config) (*CLI, error) {
	c := &CLI{program: program, flag: cfg.Flag, environ: cfg.Environ, log: cfg.Log}
	version, err := c.ask(ctx, "--version")
	if err != nil {
		return nil, err
	}
	c.quirks = quirksOf(version, os.Geteuid() > 0)
	return c, nil
}

// Name is what the program is, by its own account: docker, podman or finch.
func (c *CLI) Name() string { return c.quirks.name }

// Program is its path.
func (c *CLI) Program() string { return c.program }

// HostName is the name by which a container that may reach this host does so.
func (c *CLI) HostName() string { return c.quirks.hostName }

// Lacking are the cgroup controllers that a runtime of this user does without:
// a limit that needs one of them makes it refuse the container. Only Podman
// without root is such; where it does not say, it is not asked for any.
func (c *CLI) Lacking(ctx context.Context) []string {
	all := []string{"cpu", "memory", "pids"}
	if c.quirks.name != "podman" {
		return nil
	}
	said, err := c.ask(ctx, "info", "--format", "{{.Host.CgroupControllers}}")
	if err != nil {
		return all
	}
	there := strings.Fields(strings.Trim(said, "[]"))
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(there, name) })
}

// answers says whether the engine behind the program is there.
func (c *CLI) answers(ctx context.Context) error {
	_, err := c.ask(ctx, "ps", "-q")
	return err
}

// patience is how long the program may take for what it does at once.
const patience = 60 * time.Second

// ask runs the program and gives what it prints.
func (c *CLI) ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := c.command(ctx, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", c.commandError(args[0], err, complaint.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// command is one call of the program. An interrupt at the terminal is for us
// alone: what a container is told of it, and when, is decided here.
func (c *CLI) command(ctx context.Context, args ...string) *exec.Cmd {
	c.log.DebugContext(ctx, "container command", "program", c.program, "verb", args[0])
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Env = c.environ
	cmd.WaitDelay = 5 * time.Second // a child of it may hold the pipes open
	ownGroup(cmd)
	return cmd
}

// commandError is an error of the program, in its own words.
func (c *CLI) commandError(verb string, cause error, said string) error {
	said = strings.Join(strings.Fields(said), " ")
	if said == "" {
		said = cause.Error()
	}
	const most = 600
	if len(said) > most {
		said = "…" + said[len(said)-most:]
	}
	advice := "Check that `" + filepath.Base(c.program) + " ps` works for this user; " + c.flag + " chooses another program."
	if verb == "build" {
		advice = "The lines above say which step failed; a build needs the network."
	}
	return c3po.Errorf(c3po.InvalidRequest, "%s %s: %s", filepath.Base(c.program), verb, said).Suggest("%s", advice)
}

// lookPath finds a program by the PATH of an environment.
func lookPath(name string, environ []string) string {
	if strings.ContainsAny(name, `/\`) {
		if path, err := filepath.Abs(name); err == nil && executable(path) {
			return path
		}
		return ""
	}
	if runtime.GOOS == "windows" && filepath.Ext(name) == "" {
		name += ".exe"
	}
	for _, variable := range environ {
		folders, found := strings.CutPrefix(variable, "PATH=")
		if !found && runtime.GOOS == "windows" {
			folders, found = strings.CutPrefix(variable, "Path=")
		}
		if !found {
			continue
		}
		for _, folder := range filepath.SplitList(folders) {
			if path := filepath.Join(folder, name); filepath.IsAbs(path) && executable(path) {
				return path
			}
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
