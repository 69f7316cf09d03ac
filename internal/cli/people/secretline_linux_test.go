package people

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/deploy"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// Both lines that invite prints are run by a real shell. The programs they start look
// through the arguments of every process of the machine for the secret.
func TestNoLineThatInvitePrintsShowsTheInvitationToOthers(t *testing.T) {
	t.Parallel()
	const secret = "k3xv2ab7qmzd-Zm9vSECRETinvite"
	bin, found := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(found, "pattern"), secret+"\n", 0o600)
	look := fmt.Sprintf("grep -laf '%s/pattern' /proc/[0-9]*/cmdline >>'%s/seen' 2>/dev/null\n", found, found)
	program := "#!/bin/sh\n" + look + fmt.Sprintf("printf '%%s\\n' \"$*\" >>'%s/arguments'\ncat >>'%s/stdin'\n", found, found)
	write(filepath.Join(bin, "c3po"), program, 0o700) // #nosec G306 -- a program
	script := strings.NewReplacer(deploy.InstallPinMark, "sha256//x", deploy.InstallProgramsMark,
		fmt.Sprintf("c3po-linux-%s %x", runtime.GOARCH, sha256.Sum256([]byte(program)))).Replace(deploy.InstallScript)
	write(filepath.Join(found, "install"), script, 0o600)
	// What stands for curl gives the script, or the program for the -o behind which it goes.
	write(filepath.Join(bin, "curl"), "#!/bin/sh\n"+look+fmt.Sprintf(`to=
while [ $# -gt 1 ]; do [ "$1" = -o ] && to=$2; shift; done
if [ -n "$to" ]; then cat '%s/c3po' >"$to"; else cat '%s/install'; fi
`, bin, found), 0o700) // #nosec G306 -- a program

	made := invitationOf(c3po.Invited{Address: "[fd00::1]:8420", Hash: "5f1c", Secret: secret, Pin: "sha256//x"}, false)
	for _, line := range []string{made.Join, made.Install} {
		// A person's shell reads what is typed; it does not have it as an argument.
		sh := exec.CommandContext(t.Context(), "sh")
		sh.Stdin = strings.NewReader(line + "\n")
		sh.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + found, "C3PO_BIN=" + filepath.Join(found, "bin")}
		if said, err := sh.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, said)
		}
	}
	if seen, err := os.ReadFile(filepath.Join(found, "seen")); err != nil || len(seen) > 0 {
		t.Errorf("it is among the arguments of %s, %v", seen, err)
	}
	if given, _ := os.ReadFile(filepath.Join(found, "stdin")); string(given) != strings.Repeat(made.Invitation+"\n", 2) {
		t.Errorf("on stdin there was %q", given)
	}
	if given, _ := os.ReadFile(filepath.Join(found, "arguments")); string(given) != "join -\njoin -\n" {
		t.Errorf("the arguments were %q", given)
	}
}

func TestJoinAsksForTheInvitationWithoutShowingIt(t *testing.T) {
	t.Parallel()
	terminal, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal to be had: %v", err)
	}
	defer terminal.Close()
	defer theirs.Close()
	seen := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(terminal) // ends with an error once the other side is closed
		seen <- string(text)
	}()
	settings := func() string {
		stty := exec.CommandContext(t.Context(), "stty", "-a")
		stty.Stdin = theirs
		said, err := stty.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(said)
	}
	before := settings()
	hidden := func() {
		tick, end := time.NewTicker(5*time.Millisecond), time.Now().Add(20*time.Second)
		for !strings.Contains(settings(), " -echo ") {
			if <-tick.C; time.Now().After(end) {
				t.Fatal("the terminal goes on showing what is typed")
			}
		}
	}
	type answer struct {
		text string
		err  error
	}
	ask := func(ctx context.Context) chan answer {
		given := make(chan answer, 1)
		go func() {
			a := &console.Console{Process: console.Process{Stdin: theirs, Stderr: theirs}}
			text, err := readInvitation(ctx, a, nil)
			given <- answer{text, err}
		}()
		hidden()
		return given
	}

	given := ask(t.Context())
	if _, err := terminal.WriteString("echo 'c3po://[::1]:8420/5f1c-SECRET' | c3po join -\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-given; got.text != "c3po://[::1]:8420/5f1c-SECRET" || got.err != nil {
		t.Errorf("it is given %+v", got)
	}
	if after := settings(); after != before {
		t.Errorf("the terminal was\n%s and is\n%s", before, after)
	}

	// Ctrl-C ends the context, and must leave a terminal that shows what is typed.
	ctx, cancel := context.WithCancel(t.Context())
	given = ask(ctx)
	cancel()
	if got := <-given; !errors.Is(got.err, context.Canceled) {
		t.Errorf("interrupted, it is given %+v", got)
	}
	if after := settings(); after != before {
		t.Errorf("after an interruption the terminal was\n%s and is\n%s", before, after)
	}
	_, _ = terminal.WriteString("\n") // for the read that still waits
	_ = theirs.Close()
	if shown := <-seen; !strings.Contains(shown, "Paste the invitation") || strings.Contains(shown, "SECRET") {
		t.Errorf("the terminal showed %q", shown)
	}
}
