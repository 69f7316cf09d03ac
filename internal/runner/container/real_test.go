package container_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/runner/container"
)

// TestARealRuntimeKeepsToThis is run by test/runner/run.sh, which has made the
// settings that podman needs and an image without fetching one; and with Docker
// in its long form.
func TestARealRuntimeKeepsToThis(t *testing.T) {
	t.Parallel()
	if os.Getenv("C3PO_RUNNER_BINARY") == "" {
		t.Skip("C3PO_RUNNER_BINARY is not set: test/runner/run.sh runs this")
	}
	c, err := container.Find(t.Context(), container.Config{Runtime: os.Getenv("C3PO_RUNTIME")})
	if err != nil {
		t.Fatal(err)
	}
	const base = "docker.io/library/debian:bookworm-slim"
	label := "c3po.test=" + t.Name()
	key, value, _ := strings.Cut(label, "=")
	spec := func(script string) container.Spec {
		return container.Spec{
			Name: "c3po-test-" + strings.ToLower(t.Name()), Image: base, Labels: map[string]string{key: value}, Entrypoint: "bash", Args: []string{"-c", script},
			Env: []container.Variable{{Name: "SECRET", Value: "hush\nhush"}, {Name: "PATH", Value: "/usr/bin:/bin:/hush"}}, StopGrace: 5 * time.Second, Network: "none",
		}
	}
	t.Run("exit codes", func(t *testing.T) {
		for script, want := range map[string]int{"exit 0": 0, "exit 1": 1, "exit 42": 42, "bash -c 'kill -TERM $$'; exit $?": 143} {
			if exit, err := c.Run(t.Context(), spec(script), container.Streams{}); exit != want || err != nil {
				t.Errorf("%s: %d, %v", script, exit, err)
			}
		}
	})
	t.Run("variables and capabilities", func(t *testing.T) {
		var out bytes.Buffer
		if _, err := c.Run(t.Context(), spec(`printf '%s|%s|' "$SECRET" "$PATH"; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status`), container.Streams{Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		if want := "hush\nhush|/usr/bin:/bin:/hush|CapEff:\t0000000000000000\nNoNewPrivs:\t1\n"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	})
	t.Run("stop", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		said := &gate{seen: make(chan struct{})}
		done := make(chan int, 1)
		go func() {
			exit, err := c.Run(ctx, spec(`trap 'exit 42' TERM; echo up; sleep 60 & wait`), container.Streams{Stdout: said})
			if err != nil {
				t.Error(err)
			}
			done <- exit
		}()
		select {
		case <-said.seen:
		case exit := <-done:
			t.Fatalf("it ended with %d before it was up", exit)
		}
		running, err := c.List(t.Context(), map[string]string{key: value})
		if err != nil || len(running) != 1 || !running[0].Running() || !strings.HasSuffix(running[0].Image, base) || running[0].Started.IsZero() {
			t.Errorf("while it runs: %+v, %v", running, err)
		}
		cancel()
		if exit := <-done; exit != 42 {
			t.Errorf("the exit code of a stopped one is %d", exit)
		}
	})
	t.Run("never ran", func(t *testing.T) {
		s := spec("true")
		s.Entrypoint = "/not/there"
		if _, err := c.Run(t.Context(), s, container.Streams{}); err == nil {
			t.Error("a command that is not there has run")
		}
		s.Image = "localhost/not/there"
		if _, err := c.Run(t.Context(), s, container.Streams{}); err == nil {
			t.Error("an image that is not there has run")
		}
		if _, found, err := c.ImageLabel(t.Context(), s.Image, "build.hash"); found || err != nil {
			t.Errorf("an image that is not there: %v, %v", found, err)
		}
		if _, found, err := c.ImageLabel(t.Context(), base, "build.hash"); !found || err != nil {
			t.Errorf("an image without labels: %v, %v", found, err)
		}
	})
	left, err := c.List(t.Context(), map[string]string{key: value})
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %+v, %v", left, err)
	}
}

// gate tells when something was written to it.
type gate struct{ seen chan struct{} }

func (g *gate) Write(p []byte) (int, error) {
	select {
	case <-g.seen:
	default:
		close(g.seen)
	}
	return len(p), nil
}
