package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// hostileNames are of files that git can keep.
var hostileNames = []string{
	"a b.txt", " lead", "trail ", "-dash", "--help", ".dot", "ü.txt", "u\u0308.txt", "日本.txt", `a"q.txt`, "a'q.txt", "a\nnl.txt", "a\ttab",
	`a\bs.txt`, "*.txt", ":(top)x", "[x].txt", "a\x1b[31m.txt", "\u202egnp.txt", "a\u200bzw.txt", strings.Repeat("x", 250), "COM1", "nul", "~", "$HOME",
	"`id`", "$(id)", "a;b", "a|b", "a&b", "<x>", "{a,b}", "#c", "%41", "a%00b", "\u00a0nb", "ａ.txt", "\U0001F600.txt", "e\u0301", "İ", "ß", "README",
	"readme", "Readme", ".gitignore", ".gitattributes", ".gitmodules", strings.Repeat("deep/", 20) + "f", "..x", "x..", "...", "\ufeffbom", "a\rcr",
	"\x01soh", "\x7fdel", "a,b", "a=b", "@", "HEAD", "c3po-leases", "*** Add File: x", "git/config",
}

func TestFilesWithHostileNamesAreLeasedLikeOthers(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go")
	first, second := editing(t, url, "box:1:1"), editing(t, url, "box:2:2")
	for _, name := range hostileNames {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		first.edited(file, "one\n")
		if said := second.edits(file); !strings.Contains(said, "'api' has been editing") {
			t.Errorf("%q: %s", name, said)
		}
	}
	eventually(t, "all are held", func() bool { return len(first.leases()) == len(hostileNames) })
	faultrig.Git(t, dir, "add", "-A")
	faultrig.Git(t, dir, "commit", "-qm", "all")
	first.hook(hook.Event{Name: hook.StopEvent, SessionID: "s1"})
	eventually(t, "all are free", func() bool { return len(first.leases()) == 0 })
	t.Logf("%d names", len(hostileNames))
}
