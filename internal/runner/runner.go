package runner

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/c3po-dev/c3po/internal/runner/container"
)

// Config says where a Runner works and with what.
type Config struct {
	Places      Places
	Containers  *container.CLI
	Coordinator Coordinator
	Getenv      func(string) string
	Environ     []string // of scripts and of post_run; that of this process if nil
	// Workspaces are those of all agents of agents.yaml.
	Workspaces []string
	// Binary is a c3po for Linux that containers are given; none if empty.
	Binary string
	// Started is when a process of this host began, 0 if there is none.
	Started func(pid int) int64

	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal bool // Stdin and Stdout are a person's
	Colour   bool

	Log *slog.Logger
}

// A Runner runs agents in the containers of one host.
type Runner struct{ cfg Config }

// New makes a Runner. It starts nothing.
func New(cfg Config) *Runner {
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Started == nil {
		cfg.Started = func(int) int64 { return 0 }
	}
	return &Runner{cfg}
}

// prepare makes the runner's own folder.
func (r *Runner) prepare() error {
	for _, dir := range []string{r.cfg.Places.State, filepath.Dir(r.cfg.Places.Login)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return cannotMake(dir, err)
		}
	}
	return nil
}

// folder is what the runner remembers of one agent.
func (r *Runner) folder(name string) (string, error) {
	dir := filepath.Join(r.cfg.Places.State, "agents", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", cannotMake(dir, err)
	}
	return dir, nil
}

// A Streaming is how the output of a container is shown.
type Streaming int

// The ways.
const (
	Buffered  Streaming = iota // the result alone, at the end
	Formatted                  // as it comes, for people
	Raw                        // as it comes, as the program writes it
)

const maxLogBytes = 4 << 20

// pauseTimeout bounds what is done after a signal has come, for the coordinator may
// be away just then.
const pauseTimeout = 3 * time.Second
