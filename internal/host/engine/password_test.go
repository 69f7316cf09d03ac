package engine_test

import (
	"bufio"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/host/engine"
)

// passwordBeside is that of the server whose socket newConfig has named.
func passwordBeside(socket string) string {
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(socket), "data", "password.conf"))
	return strings.TrimPrefix(strings.TrimSpace(string(text)), "requirepass ")
}

// givePassword writes the password that the server of a folder will start with.
func givePassword(t *testing.T, dir, password string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "password.conf"), []byte("requirepass "+password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A visitor is a connection without a password.
type visitor struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func visit(t *testing.T, socket string) visitor {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return visitor{t, conn, bufio.NewReader(conn)}
}

func (v visitor) say(command string) string {
	v.t.Helper()
	fmt.Fprintf(v.conn, "%s\r\n", command)
	line, err := v.in.ReadString('\n')
	if err != nil {
		v.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestTheServerAnswersNobodyWithoutItsPassword(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	e := start(t, cfg)
	for _, command := range []string{"PING", "CONFIG GET requirepass", "KEYS *", "SHUTDOWN NOSAVE"} {
		if answer := visit(t, e.Socket).say(command); !strings.HasPrefix(answer, "-NOAUTH") {
			t.Errorf("%s without the password is answered %s", command, answer)
		}
	}
	password := passwordBeside(e.Socket)
	if len(password) < 40 || !strings.Contains(e.URL(), password) {
		t.Fatalf("the password has %d characters", len(password))
	}
	if runtime.GOOS == "linux" {
		for _, name := range []string{"cmdline", "environ"} {
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", e.PID, name)); err != nil || strings.Contains(string(text), password) {
				t.Errorf("%s of the server shows the password: %v", name, err)
			}
		}
	}
	do(t, e.Socket, "SET a 1")
	wantPrivate(t, cfg.Dir)
}

func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read %s: %v, %v", name, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What ran before the update has no password and files that others may read.
func TestTheServerOfAnOlderVersionGetsAPasswordAndKeepsItsGuests(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	e := start(t, cfg)
	do(t, e.Socket, "SET kept yes")
	do(t, e.Socket, `CONFIG SET requirepass ""`)
	if err := os.Remove(filepath.Join(cfg.Dir, "password.conf")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{cfg.Dir, filepath.Join(cfg.Dir, "appendonlydir")} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	guest := visit(t, e.Socket)
	if answer := guest.say("PING"); answer != "+PONG" {
		t.Fatalf("the old server answers %s", answer)
	}

	again := start(t, cfg)
	if again.New || again.PID != e.PID {
		t.Errorf("the server was started anew")
	}
	if answer := visit(t, e.Socket).say("PING"); !strings.HasPrefix(answer, "-NOAUTH") {
		t.Errorf("a newcomer is answered %s", answer)
	}
	if answer := guest.say("SET by guest"); answer != "+OK" {
		t.Errorf("who was connected is answered %s", answer)
	}
	wantPrivate(t, cfg.Dir)

	if _, err := engine.Stop(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	last := start(t, cfg)
	if got := do(t, last.Socket, "GET kept") + do(t, last.Socket, "GET by"); got != "yesguest" {
		t.Errorf("after a restart it holds %q", got)
	}
	if answer := visit(t, last.Socket).say("PING"); !strings.HasPrefix(answer, "-NOAUTH") {
		t.Errorf("after a restart a newcomer is answered %s", answer)
	}
}
