package meta

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/deploy"
)

// As root, tar gives files the owner that the archive names. Who is not root becomes it in
// a namespace, where that owner is nobody and tar fails.
func TestTheProgramBelongsToWhoInstallsIt(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "latest/download/", "#!/bin/sh\nls -ln \"$0\"\n")
	script := deploy.InstallScript
	if os.Geteuid() != 0 {
		if err := exec.CommandContext(t.Context(), "unshare", "-r", "true").Run(); err != nil {
			t.Skip("there is no root to be had")
		}
		script = "exec unshare -r sh <<'ALL'\n" + script + "\nALL\n"
	}
	out, left, err := install(t, page, script, nil)
	if err != nil || len(left) != 1 || strings.Contains(out, "4242") {
		t.Errorf("it leaves %v, %v:\n%s", left, err, out)
	}
}

func TestTheScriptPutsNoProgramIntoAFolderOfItsName(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "latest/download/", "#!/bin/sh\necho newest\n")
	folder := t.TempDir()
	inside := filepath.Join(folder, "c3po")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	out, _, err := install(t, page, deploy.InstallScript, []string{"C3PO_BIN=" + folder})
	if left, _ := os.ReadDir(inside); err == nil || len(left) > 0 || !strings.Contains(out, inside+" is a folder, where the program should go; nothing was installed") {
		t.Errorf("it leaves %v, %v:\n%s", left, err, out)
	}
}

func TestTheScriptNamesAFolderByItsWholePath(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "latest/download/", "#!/bin/sh\necho newest\n")
	// The folder that is looked into is bin below the home, in which the script runs.
	for _, relative := range []string{"bin", "./bin/"} {
		out, left, err := install(t, page, deploy.InstallScript, []string{"C3PO_BIN=" + relative})
		if err != nil || len(left) != 1 || !strings.Contains(out, "c3po is in /") || !strings.Contains(out, `export PATH="/`) {
			t.Errorf("%s: it leaves %v, %v:\n%s", relative, left, err, out)
		}
	}
	script := deploy.InstallScript + "[ -x \"$HOME/-x/c3po\" ] && C3PO_BIN=bin main\n"
	if out, left, err := install(t, page, script, []string{"C3PO_BIN=-x"}); err != nil || len(left) != 1 {
		t.Errorf("-x: it leaves %v, %v:\n%s", left, err, out)
	}
}

func TestTheScriptSaysWhichProgramIsMissing(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "latest/download/", "#!/bin/sh\necho newest\n")
	tools := []string{"sh", "curl", "tar", "gzip", "sha256sum", "uname", "tr", "id", "mkdir", "mktemp", "rm", "chmod", "mv", "sed", "grep", "cut", "cat"}
	for without, says := range map[string]string{
		"tar":       "tar is not installed; nothing was installed",
		"sha256sum": "none of sha256sum, shasum and openssl is installed; nothing was installed",
	} {
		folder := t.TempDir()
		for _, tool := range tools {
			path, err := exec.LookPath(tool)
			if err != nil {
				t.Skip(tool + " is not installed")
			}
			if tool == without {
				continue
			}
			if err := os.Symlink(path, filepath.Join(folder, tool)); err != nil {
				t.Fatal(err)
			}
		}
		out, left, err := install(t, page, deploy.InstallScript, []string{"PATH=" + folder})
		if err == nil || len(left) > 0 || !strings.Contains(out, says) {
			t.Errorf("without %s it leaves %v, %v:\n%s", without, left, err, out)
		}
	}
	// The last of equal variables counts.
	out, left, err := install(t, page, deploy.InstallScript, []string{"C3PO_RELEASES=http://127.0.0.1:1"})
	if err == nil || len(left) > 0 || !strings.Contains(out, "http://127.0.0.1:1/latest/download can't be asked: ") {
		t.Errorf("without a page it leaves %v, %v:\n%s", left, err, out)
	}
}
