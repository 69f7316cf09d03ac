package paths_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

func folders(variables map[string]string) paths.Folders {
	return paths.Folders{Getenv: func(name string) string { return variables[name] }}
}

// short is a temporary folder whose path leaves room for a socket's.
func short(t *testing.T) string {
	t.Helper()
	among := "/tmp"
	if runtime.GOOS == "windows" {
		among = ""
	}
	dir, err := os.MkdirTemp(among, "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestTheShortFolderOfSocketsIsRemovedOnceItIsEmpty(t *testing.T) {
	t.Parallel()
	base := short(t)
	f := folders(map[string]string{"HOME": filepath.Join(base, strings.Repeat("long", 30)), "TMPDIR": base})
	socket, err := f.Socket("redis.sock")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.RemoveEmptySocketFolder()
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("a socket in use is gone: %v", err)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	f.RemoveEmptySocketFolder()
	if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder stays: %v", err)
	}
}

func TestFoldersFollowTheirVariables(t *testing.T) {
	t.Parallel()
	home := short(t)
	tests := map[string]struct {
		variables             map[string]string
		state, config, socket string
	}{
		"a home only": {
			map[string]string{"HOME": home},
			home + "/.local/state/c3po", home + "/.config/c3po", home + "/.local/state/c3po/redis.sock",
		},
		"all named": {
			map[string]string{"HOME": home, "XDG_STATE_HOME": home + "/s", "XDG_CONFIG_HOME": home + "/c", "XDG_RUNTIME_DIR": home + "/r"},
			home + "/s/c3po", home + "/c/c3po", home + "/r/c3po/redis.sock",
		},
		"relative ones are ignored": {
			map[string]string{"HOME": home, "XDG_STATE_HOME": "s", "XDG_RUNTIME_DIR": "r"},
			home + "/.local/state/c3po", home + "/.config/c3po", home + "/.local/state/c3po/redis.sock",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := folders(test.variables)
			state, err1 := f.State()
			config, err2 := f.Config()
			socket, err3 := f.Socket("redis.sock")
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{filepath.Clean(test.state), filepath.Clean(test.config), filepath.Clean(test.socket)}, []string{state, config, socket}); diff != "" {
				t.Error(diff)
			}
			for _, dir := range []string{state, config, filepath.Dir(socket)} {
				info, err := os.Stat(dir)
				if err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
					t.Errorf("%s: %v, %v; want a folder of mode 0700", dir, info.Mode(), err)
				}
			}
		})
	}
}

func TestASocketPathIsNeverTooLong(t *testing.T) {
	t.Parallel()
	long := filepath.Join(short(t), strings.Repeat("d", 100))
	temporary := short(t)
	first, err := folders(map[string]string{"HOME": long, "TMPDIR": temporary}).Socket("redis.sock")
	if err != nil {
		t.Fatal(err)
	}
	if len(first) > 100 || !strings.HasPrefix(first, filepath.Join(temporary, "c3po-")) {
		t.Errorf("the socket is %s, %d bytes", first, len(first))
	}
	again, err := folders(map[string]string{"HOME": long, "TMPDIR": temporary}).Socket("redis.sock")
	if err != nil || again != first {
		t.Errorf("the second time it is %s, %v", again, err)
	}
	other, err := folders(map[string]string{"HOME": long + "2", "TMPDIR": temporary}).Socket("redis.sock")
	if err != nil || other == first {
		t.Errorf("another home shares the socket %s, %v", other, err)
	}
}

func TestAFolderOpenToOthersIsClosed(t *testing.T) {
	t.Parallel()
	home := short(t)
	if err := os.MkdirAll(home+"/.local/state/c3po", 0o755); err != nil {
		t.Fatal(err)
	}
	state, err := folders(map[string]string{"HOME": home}).State()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(state); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

func TestALinkInPlaceOfAFolderIsRefused(t *testing.T) {
	t.Parallel()
	home, elsewhere := short(t), short(t)
	if err := errors.Join(os.MkdirAll(home+"/.config", 0o700), os.Symlink(elsewhere, home+"/.config/c3po")); err != nil {
		t.Fatal(err)
	}
	if _, err := folders(map[string]string{"HOME": home}).Config(); !errors.Is(err, c3po.Forbidden) {
		t.Errorf("Config = %v, want %s", err, c3po.Forbidden)
	}
}

func TestTheNoteOfACoordinatorComesAndGoes(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if note, err := paths.ReadCoordinator(state); note != nil || err != nil {
		t.Errorf("an empty folder holds %v, %v", note, err)
	}
	ours := paths.Coordinator{URL: "http://127.0.0.1:8420", PID: 12, Started: 34, RedisPID: 56, RedisSocket: "/s", Version: "1"}
	if err := ours.Write(state); err != nil {
		t.Fatal(err)
	}
	got, err := paths.ReadCoordinator(state)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&ours, got); diff != "" {
		t.Error(diff)
	}
	files, err := os.ReadDir(state)
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder holds %v, %v", files, err)
	}
	if info, err := files[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the note has mode %v, %v", info.Mode(), err)
	}

	// A process that was followed by another leaves the other's note alone.
	before := ours
	before.Started = 33
	if err := before.Remove(state); err != nil {
		t.Fatal(err)
	}
	if note, err := paths.ReadCoordinator(state); note == nil || err != nil {
		t.Errorf("another's note was removed: %v, %v", note, err)
	}
	if err := ours.Remove(state); err != nil {
		t.Fatal(err)
	}
	if note, err := paths.ReadCoordinator(state); note != nil || err != nil {
		t.Errorf("the note is still there: %v, %v", note, err)
	}
}

func TestLookingForACoordinatorMakesNoFolder(t *testing.T) {
	t.Parallel()
	home := short(t)
	f := folders(map[string]string{"HOME": home})
	if note, err := f.Coordinator(); note != nil || err != nil {
		t.Errorf("Coordinator = %v, %v", note, err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("the home holds %v, %v", left, err)
	}
	state, err := f.State()
	if err != nil {
		t.Fatal(err)
	}
	if err := (paths.Coordinator{URL: "http://here"}).Write(state); err != nil {
		t.Fatal(err)
	}
	if note, err := f.Coordinator(); err != nil || note == nil || note.URL != "http://here" {
		t.Errorf("Coordinator = %v, %v", note, err)
	}
}

func TestANoteThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if err := os.WriteFile(state+"/coordinator.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := paths.ReadCoordinator(state); err == nil || !strings.Contains(err.Error(), "coordinator.json") {
		t.Errorf("ReadCoordinator = %v", err)
	}
}

func TestALockIsHeldByOneAtATime(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	first, err := paths.TryLock(name)
	if first == nil || err != nil {
		t.Fatalf("the first try gave %v, %v", first, err)
	}
	if second, err := paths.TryLock(name); second != nil || err != nil {
		t.Fatalf("the second try gave %v, %v", second, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := paths.WaitLock(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait gave %v", err)
	}
	got := make(chan error, 1)
	go func() {
		lock, err := paths.WaitLock(t.Context(), name)
		if err == nil {
			err = lock.Release()
		}
		got <- err
	}()
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("after the release: %v", err)
	}
}

func TestTheLastHookRunIsKeptForEachClient(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f := folders(map[string]string{"HOME": home})
	run := paths.HookRun{Event: "Stop", Agent: "api", At: time.Now().UTC().Truncate(time.Second), Took: 3 * time.Millisecond}
	if f.HookRun("codex") != nil {
		t.Error("a run is known before there was one")
	}
	for _, client := range []string{"codex", "../../../escaped", ""} {
		if err := f.NoteHookRun(client, run); err != nil {
			t.Errorf("%q: %v", client, err)
		}
	}
	if got := f.HookRun("codex"); got == nil || *got != run {
		t.Errorf("kept %+v", got)
	}
	if f.HookRun("gemini") != nil || f.HookRun("../../../escaped") != nil {
		t.Error("a client has the run of another, or a file of its own choice")
	}
}

func TestFreeDiskIsWhatTheSystemSays(t *testing.T) {
	t.Parallel()
	free, known := paths.FreeDisk(t.TempDir())
	if (runtime.GOOS == "linux" || runtime.GOOS == "darwin") && (!known || free <= 0) {
		t.Errorf("free: %d, %t", free, known)
	}
	if _, known := paths.FreeDisk(filepath.Join(t.TempDir(), "not there")); known {
		t.Error("of a folder that is not there it is known how much is free in it")
	}
}
