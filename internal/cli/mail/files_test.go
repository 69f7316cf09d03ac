package mail

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// hostileNames are what a stranger may call a file.
func hostileNames() []string {
	return []string{
		"", ".", "..", "...", "/", `\`, "//", "../../x", "../x", "..\\..\\x", "/etc/passwd", "~/x", "~root", "a/../../b", "./x", "x/", "x/.", "x/..",
		`C:\Windows\x`, `C:x`, `\\host\share`, "file:///etc/passwd", "x:stream", "con", "CON.txt", "nul", "NUL.tar.gz", "aux", "com1.log", "LPT9", "prn",
		".bashrc", ".ssh", "..bashrc", ".git", ".gitignore", ".mcp.json", " .bashrc", "-rf", "--help", "-", "x\x00.txt", "\x00", "a\nb", "a\rb", "a\tb", "\x1b[31mred",
		"gnp\u202ecod.exe", "\u200f", "\ufeffx", "a\u2028b", "\u00ad", "\xff\xfe", strings.Repeat("a", 300), strings.Repeat("ä", 300), strings.Repeat("a", 300) + ".txt",
		"x." + strings.Repeat("e", 300), strings.Repeat("../", 100) + "x", "x ", "x.", "x...", "x . .", "link", "link/x", "dir", "dir/x", "taken", "$(id)", "`id`", "%00", "*?<>|\"", "\u2044etc\u2044x", "․․/x",
	}
}

func TestNothingIsSavedOutsideTheFolderWhateverItsName(t *testing.T) {
	t.Parallel()
	if n := len(hostileNames()); n < 60 {
		t.Fatalf("only %d names", n)
	}
	for _, name := range hostileNames() {
		savesInside(t, name)
	}
}

func FuzzNothingIsSavedOutsideTheFolder(f *testing.F) {
	for _, name := range hostileNames() {
		f.Add(name)
	}
	f.Fuzz(savesInside)
}

// savesInside saves a file of that name into a folder with a link that leads out, a folder
// and a file, and looks what there is then.
func savesInside(t *testing.T, name string) {
	t.Helper()
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	for _, err := range []error{
		os.Mkdir(inner, 0o700),
		os.WriteFile(filepath.Join(outer, "outside"), []byte("mine"), 0o600),
		os.Symlink("../outside", filepath.Join(inner, "link")),
		os.Symlink("../nowhere", filepath.Join(inner, "x")),
		os.Mkdir(filepath.Join(inner, "dir"), 0o700),
		os.WriteFile(filepath.Join(inner, "taken"), []byte("mine"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	folder, err := os.OpenRoot(inner)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	saved, err := saveInto(folder, name, func(w io.Writer) error {
		_, err := io.WriteString(w, "theirs")
		return err
	})
	if err != nil {
		t.Fatalf("%q is not saved: %v", name, err)
	}
	if saved != filepath.Base(saved) || strings.HasPrefix(saved, ".") || strings.HasPrefix(saved, "-") || len(saved) > 255 || sanitise.Inline(saved) != saved {
		t.Errorf("%q is saved as %q", name, saved)
	}
	found := map[string]string{}
	err = filepath.WalkDir(outer, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			found[strings.TrimPrefix(path, outer+string(filepath.Separator))] = string(data)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join("inner", saved)
	if len(found) != 3 || found["outside"] != "mine" || found[filepath.Join("inner", "taken")] != "mine" || found[want] != "theirs" {
		t.Errorf("after %q there are %q", name, found)
	}
}

func TestAFileThatFailedHalfwayIsNotLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	broken := errors.New("the hash differs")
	if _, err := saveInto(folder, "a.txt", func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("saveInto = %v, want %v", err, broken)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// A saved file has its name only when it is whole: whatever kills the program before,
// nobody takes a half for the file.
func TestAFileHasNoNameBeforeItIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	saved, err := saveInto(folder, "a.txt", func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 || !strings.HasPrefix(left[0].Name(), partPrefix) {
			t.Errorf("halfway there are %v, %v", left, err)
		}
		return err
	})
	if err != nil || saved != "a.txt" {
		t.Fatalf("saveInto = %q, %v", saved, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestWhatAKilledSaveHasLeftIsRemovedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{partPrefix + "old": 2 * partLife, partPrefix + "new": 0, "mine": 2 * partLife} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chtimes(path, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	removeParts(folder, now)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != partPrefix+"new" || left[1].Name() != "mine" {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestAnInterruptedUploadSaysThatNothingWasSent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.log")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := upload(ctx, client.New(client.Config{URL: "http://127.0.0.1:1", AgentID: "alice"}), []string{path})
	ended, ok := errors.AsType[*console.EndedError](err)
	if !ok || ended.Code != console.ExitInterrupted || !strings.Contains(ended.Cause.Error(), "nothing was sent") {
		t.Errorf("upload = %v", err)
	}
}
