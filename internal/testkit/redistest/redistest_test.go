package redistest_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func do(t *testing.T, addr string, args ...string) any {
	t.Helper()
	reply, err := redistest.Do(addr, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return reply
}

func TestEveryTestGetsAServerOfItsOwn(t *testing.T) {
	t.Parallel()
	one, two := redistest.Start(t), redistest.Start(t)
	do(t, one, "SET", "k", "1")
	if got := do(t, two, "GET", "k"); got != nil {
		t.Errorf("the second server has what was written to the first: %v", got)
	}
}

func TestLaterArgumentsOverrideTheDefaults(t *testing.T) {
	t.Parallel()
	plain := redistest.Start(t)
	other := redistest.Start(t, "--appendfsync", "always", "--maxmemory", "5mb")
	for _, c := range []struct{ addr, setting, want string }{
		{plain, "appendonly", "yes"},
		{plain, "appendfsync", "no"},
		{plain, "save", ""},
		{other, "appendfsync", "always"},
		{other, "maxmemory", "5242880"},
	} {
		reply := do(t, c.addr, "CONFIG", "GET", c.setting).([]any)
		if reply[1] != c.want {
			t.Errorf("%s = %q, want %q", c.setting, reply[1], c.want)
		}
	}
}

func TestAServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var s *redistest.Server
	t.Run("inner", func(t *testing.T) { s = redistest.New(t) })
	if _, err := redistest.Do(s.Addr(), "PING"); err == nil {
		t.Errorf("server %d still answers", s.PID())
	}
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("its folder is still there: %v", err)
	}
}

func TestAKilledServerComesBackWithItsData(t *testing.T) {
	t.Parallel()
	s := redistest.New(t)
	addr, pid := s.Addr(), s.PID()
	do(t, addr, "SET", "k", "kept")
	s.Kill()
	if _, err := redistest.Do(addr, "PING"); err == nil {
		t.Error("a killed server answers")
	}
	s.Restart()
	if s.Addr() != addr {
		t.Errorf("the address became %s, was %s", s.Addr(), addr)
	}
	if s.PID() == pid {
		t.Errorf("still the same process %d", pid)
	}
	if got := do(t, addr, "GET", "k"); got != "kept" {
		t.Errorf("k = %v after a restart", got)
	}
	if logs, err := filepath.Glob(filepath.Join(s.Dir(), "appendonlydir", "*")); err != nil || len(logs) == 0 {
		t.Errorf("no AOF in %s (%v)", s.Dir(), err)
	}
}

func TestSharedIsOneServer(t *testing.T) {
	t.Parallel()
	if one, two := redistest.Shared(t), redistest.Shared(t); one != two {
		t.Errorf("two shared servers: %s and %s", one, two)
	}
	do(t, redistest.Shared(t), "PING")
}

func TestAClusterHasThreeMastersThatAgree(t *testing.T) {
	t.Parallel()
	addrs := redistest.Cluster(t)
	if len(addrs) != 3 {
		t.Fatalf("%d addresses, want 3", len(addrs))
	}
	stored, moved := 0, 0
	for _, addr := range addrs {
		switch _, err := redistest.Do(addr, "SET", "{main}", "1"); {
		case err == nil:
			stored++
		case strings.HasPrefix(err.Error(), "MOVED "):
			moved++
		default:
			t.Errorf("%s: %v", addr, err)
		}
	}
	if stored != 1 || moved != 2 {
		t.Errorf("%d masters took the key and %d sent it on, want 1 and 2", stored, moved)
	}
}

func TestDoReadsEveryKindOfReply(t *testing.T) {
	t.Parallel()
	addr := redistest.Shared(t)
	if got := do(t, addr, "ECHO", "two\r\nlines, ünïcode"); got != "two\r\nlines, ünïcode" {
		t.Errorf("ECHO = %q", got)
	}
	if got := do(t, addr, "EVAL", "return {1, 'a', {false}}", "0").([]any); got[0] != int64(1) || got[1] != "a" || got[2].([]any)[0] != nil {
		t.Errorf("EVAL = %v", got)
	}
	var refused redistest.ErrorReply
	if _, err := redistest.Do(addr, "NOSUCHCOMMAND"); !errors.As(err, &refused) {
		t.Errorf("an unknown command gave %v, want an ErrorReply", err)
	}
}

func TestWithoutAServerInstalledCIFailsAndOthersSkip(t *testing.T) {
	for ci, want := range map[string]string{"true": "fatal", "": "skip"} {
		t.Run("CI="+ci, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			t.Setenv("CI", ci)
			seen := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				redistest.Start(seen)
			}()
			<-done
			if seen.outcome != want {
				t.Errorf("outcome %q, want %q", seen.outcome, want)
			}
		})
	}
}

// A recorder notes how a test would have ended, and ends its goroutine so.
type recorder struct {
	testing.TB
	outcome string
}

func (r *recorder) Fatal(...any) { r.outcome = "fatal"; runtime.Goexit() }
func (r *recorder) Skip(...any)  { r.outcome = "skip"; runtime.Goexit() }
