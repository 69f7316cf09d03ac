package operate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/deploy"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/host/release"
)

// An upgraded is what upgrade prints as JSON after it has done so, or found nothing to do.
type upgraded struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Program     string `json:"program"`
	Changed     bool   `json:"changed"`
	Coordinator string `json:"coordinator,omitempty"` // that still runs the old version
}

// upgradeByScript replaces this program as the install script does, by that script: what
// it refuses is refused here.
func upgradeByScript(ctx context.Context, a *console.Console, page string) error {
	if err := a.RefuseAgents(); err != nil {
		return err
	}
	newest, err := release.Newest(ctx, page)
	if err != nil {
		return err
	}
	done := upgraded{From: a.Version, To: a.Version, Program: ownProgram()}
	if !release.Newer(newest, a.Version) {
		return a.Show(done, func(w io.Writer) {
			fmt.Fprintf(w, "%s is the newest release; nothing to do\n", console.Inline(a.Version))
		})
	}
	stop := a.Waiting("fetching " + newest)
	warned, err := runInstallScript(ctx, page, newest, filepath.Dir(done.Program))
	stop()
	for _, line := range warned {
		fmt.Fprintln(a.Stderr, console.Inline(line))
	}
	if err != nil {
		return err
	}
	done.To, done.Changed = newest, true
	note, _ := a.Folders.Coordinator() // the program is replaced whatever its note says
	if note != nil && note.Version != newest {
		done.Coordinator = note.URL
	}
	if err := a.Show(done, func(w io.Writer) {
		fmt.Fprintf(w, "%s is now %s; it was %s\n", console.Inline(done.Program), console.Inline(done.To), console.Inline(done.From))
	}); err != nil || done.Coordinator == "" {
		return err
	}
	return restartAfterUpgrade(ctx, a, *note)
}

// runInstallScript installs one release into a folder, and returns what the script warned of.
// The script is given a page only if it is not the project's: a mirror may have no signature.
func runInstallScript(ctx context.Context, page, version, folder string) (warned []string, err error) {
	page = strings.TrimSuffix(page, "/")
	if page == release.Page {
		page = ""
	}
	sh := exec.CommandContext(ctx, "sh")
	sh.Stdin = strings.NewReader(deploy.InstallScript)
	sh.Env = append(os.Environ(), "C3PO_BIN="+folder, "C3PO_RELEASES="+page, "C3PO_VERSION="+version)
	var said bytes.Buffer
	sh.Stderr = &said
	err = sh.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	lines := strings.FieldsFunc(said.String(), func(r rune) bool { return r == '\n' })
	if err == nil {
		return lines, nil
	}
	why := err.Error()
	if last := len(lines) - 1; last >= 0 {
		why, lines = strings.TrimPrefix(lines[last], "c3po: "), lines[:last]
	}
	return lines, c3po.Errorf(c3po.InvalidRequest, "%s was not installed: %s", version, why).
		Suggest("The program is unchanged. If %s is not yours to write to, run it with sudo.", folder)
}

// restartAfterUpgrade offers to restart a coordinator that runs the old version. Only a
// service knows its settings; of another the person does.
func restartAfterUpgrade(ctx context.Context, a *console.Console, note paths.Coordinator) error {
	if a.JSON {
		return nil
	}
	m, known := serviceManager(a, runtime.GOOS)
	if !known || !m.isInstalled() || m.run(ctx, m.isActive) != nil {
		fmt.Fprintf(a.Stdout, "the coordinator at %s still runs %s; restart it with: c3po down && c3po up, and the settings it was started with\n", console.Inline(note.URL), console.Inline(note.Version))
		return nil
	}
	if a.AtTerminal() {
		if yes, err := a.Confirm(fmt.Sprintf("The coordinator at %s still runs %s. Restart it now?", console.Inline(note.URL), console.Inline(note.Version)), true); err != nil || !yes {
			return err
		}
		if err := m.run(ctx, m.stop); err != nil {
			return err
		}
		for _, command := range m.start {
			if err := m.run(ctx, command); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintf(a.Stdout, "the coordinator at %s still runs %s; restart it with: c3po down && c3po up --service\n", console.Inline(note.URL), console.Inline(note.Version))
	return nil
}
