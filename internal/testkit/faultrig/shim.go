package faultrig

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

//go:embed shim/sync.c
var syncSource string

//go:embed shim/clock.c
var clockSource string

// Shim compiles a library that is loaded in front of Redis. A machine that
// cannot do that skips the test, unless CI=true: there it fails.
func Shim(t testing.TB, name, source string) string {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("gcc"); err != nil {
		missing = "gcc is not installed, so nothing can be loaded in front of Redis"
	}
	if runtime.GOOS != "linux" {
		missing = "nothing can be loaded in front of Redis on " + runtime.GOOS
	}
	switch {
	case missing != "" && os.Getenv("CI") == "true":
		t.Fatal(missing)
	case missing != "":
		t.Skip(missing)
	}
	return once(t, name+".so", func(path string) error {
		from := path + ".c"
		if err := os.WriteFile(from, []byte(source), 0o600); err != nil {
			return err
		}
		return command("gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", path, from, "-ldl")
	})
}

// A Powered server is one whose power can be cut.
type Powered struct {
	*redistest.Server
	t     testing.TB
	syncs string
}

// NewPowered starts a server with the given arguments.
func NewPowered(t testing.TB, args ...string) *Powered {
	t.Helper()
	library := Shim(t, "sync", syncSource)
	syncs := filepath.Join(t.TempDir(), "syncs")
	return &Powered{
		Server: redistest.NewIn(t, []string{"LD_PRELOAD=" + library, "FAULTRIG_SYNCS=" + syncs}, args...),
		t:      t, syncs: syncs,
	}
}

// Cut ends the server and takes from its append-only files whatever was not on
// the disk at that moment. It returns how many bytes that was. Restart turns
// the power on again.
func (p *Powered) Cut() (taken int64) {
	p.t.Helper()
	p.Kill()
	safe, err := p.onDisk()
	if err != nil {
		p.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(p.Dir(), "appendonlydir", "*"))
	if err != nil || len(files) == 0 {
		p.t.Fatalf("there is no append-only file in %s (%v)", p.Dir(), err)
	}
	var left strings.Builder
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			p.t.Fatal(err)
		}
		keep := min(safe[inode(info)], info.Size())
		if keep < info.Size() {
			taken += info.Size() - keep
			if err := os.Truncate(file, keep); err != nil {
				p.t.Fatal(err)
			}
		}
		fmt.Fprintf(&left, "%d %d\n", inode(info), keep)
	}
	// What is left is on the disk. The number of a file that is gone may be given
	// to a new one, of which nothing is.
	if err := os.WriteFile(p.syncs, []byte(left.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return taken
}

// onDisk is the size up to which each file was synced, by inode.
func (p *Powered) onDisk() (map[uint64]int64, error) {
	text, err := os.ReadFile(p.syncs)
	if err != nil {
		return nil, err
	}
	safe := map[uint64]int64{}
	for line := range bytes.Lines(text) {
		var file uint64
		var size int64
		if _, err := fmt.Sscanf(string(line), "%d %d", &file, &size); err != nil {
			return nil, fmt.Errorf("%q in the list of syncs: %w", line, err)
		}
		safe[file] = size
	}
	return safe, nil
}

// A Clock is the wall clock of programs that run with its variables, and can be moved.
// Programs that ask no C library for the time, as c3po itself, keep the true one.
type Clock struct {
	t       testing.TB
	offset  string
	library string
}

// NewClock is a clock that goes right.
func NewClock(t testing.TB) *Clock {
	t.Helper()
	c := &Clock{t: t, offset: filepath.Join(t.TempDir(), "offset"), library: Shim(t, "clock", clockSource)}
	c.Move(0)
	return c
}

// Env are the variables of programs that go by the clock.
func (c *Clock) Env() []string {
	return []string{"LD_PRELOAD=" + c.library, "FAULTRIG_CLOCK=" + c.offset}
}

// Move sets the clock to so much after the true time.
func (c *Clock) Move(by time.Duration) {
	c.t.Helper()
	file, err := os.OpenFile(c.offset, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(by.Microseconds())), 0); err != nil {
		c.t.Fatal(err)
	}
}

// A Clocked server is one whose clock can be moved.
type Clocked struct {
	*redistest.Server
	*Clock
}

// NewClocked starts a server with the given arguments, on time.
func NewClocked(t testing.TB, args ...string) *Clocked {
	t.Helper()
	clock := NewClock(t)
	return &Clocked{redistest.NewIn(t, clock.Env(), args...), clock}
}

// Move returns when the server, which must run, goes by it. Valkey 9 looks at the clock
// now and then, and counts on from there.
func (c *Clocked) Move(by time.Duration) {
	c.t.Helper()
	c.Clock.Move(by)
	var off time.Duration
	if !Within(5*time.Second, func() bool {
		off = RedisTime(c.t, c.Addr()).Sub(time.Now().Add(by))
		return off.Abs() < 10*time.Second
	}) {
		c.t.Fatalf("moved by %s the server's clock is off by %s", by, off)
	}
}

// RedisTime is the second that a server says it is.
func RedisTime(t testing.TB, addr string) time.Time {
	t.Helper()
	parts, err := redistest.Do(addr, "TIME")
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseInt(parts.([]any)[0].(string), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(seconds, 0)
}
