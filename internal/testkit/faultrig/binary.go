package faultrig

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// built is what this test process has made for all of its tests: the binary
// and the shims. Tests have nothing else in common that could hold it.
var built struct {
	sync.Mutex
	dir   string
	files map[string]string // what → path
}

// Main runs the tests, then removes what was built for them. A package that
// uses the rig has
//
//	func TestMain(m *testing.M) { faultrig.Main(m) }
func Main(m *testing.M) {
	if crowd, err := crowded(); crowd {
		if err != nil {
			panic(err)
		}
		return
	}
	defer removeBuilt()
	m.Run()
}

func removeBuilt() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
		built.dir, built.files = "", nil
	}
}

// once makes a file for the whole process the first time it is asked for.
func once(t testing.TB, name string, build func(path string) error) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if path := built.files[name]; path != "" {
		return path
	}
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "c3po-faultrig-")
		if err != nil {
			t.Fatal(err)
		}
		built.dir, built.files = dir, map[string]string{}
	}
	path := filepath.Join(built.dir, name)
	if err := build(path); err != nil {
		t.Fatal(err)
	}
	built.files[name] = path
	return path
}

// Home is a home folder for the programs of one test. Its name is short: in one with
// a long name there is no room for sockets, and c3po has a folder for them among
// the temporary files, which it leaves there. A log in it that shows a fault of c3po fails the test.
func Home(t testing.TB) string {
	t.Helper()
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		CheckLogs(t, home)
		// A shell that was told to end may still write its history.
		err := os.RemoveAll(home)
		for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); err = os.RemoveAll(home) {
			Pass(context.Background(), 50*time.Millisecond)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return home
}

// Built names a c3po that was built for all packages, as PATH:SHA256, in the environment.
// .ci/built makes it.
const Built = "C3PO_BUILT"

// Binary is the path of a c3po built from this tree.
func Binary(t testing.TB) string {
	t.Helper()
	if os.Getenv(Built) != "" {
		path, err := given()
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	return once(t, "c3po", func(path string) error {
		return command("go", "build", "-o", path, "github.com/c3po-dev/c3po/cmd/c3po")
	})
}

// The file is read once for a whole process.
var given = sync.OnceValues(func() (string, error) { return prebuilt(os.Getenv(Built)) })

// prebuilt is the path that Built names, if the file there has the SHA-256 that it names.
func prebuilt(value string) (string, error) {
	at := strings.LastIndexByte(value, ':')
	if at < 0 {
		return "", fmt.Errorf("%s is %q: want PATH:SHA256", Built, value)
	}
	path, want := value[:at], value[at+1:]
	program, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(program)); got != want {
		return "", fmt.Errorf("%s has the SHA-256 %s, and %s names %s", path, got, Built, want)
	}
	return path, nil
}

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}
