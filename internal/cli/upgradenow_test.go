package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// release serves one release, v1.3.0, whose program says that it is the new one.
// Spoil changes its files first.
func release(t *testing.T, spoil func(files map[string][]byte)) string {
	t.Helper()
	server := httptest.NewServer(releasePage(t, spoil))
	t.Cleanup(server.Close)
	return server.URL
}

func releasePage(t *testing.T, spoil func(files map[string][]byte)) http.Handler {
	t.Helper()
	const program = "#!/bin/sh\necho the new one\n"
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	if err := archive.WriteHeader(&tar.Header{Name: "c3po", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(archive, program); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	name := "c3po-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	files := map[string][]byte{
		name:            packed.Bytes(),
		"checksums.txt": fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(packed.Bytes()), name),
	}
	spoil(files)
	mux := http.NewServeMux()
	mux.HandleFunc("/latest", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/tag/v1.3.0", http.StatusFound) })
	mux.HandleFunc("/download/v1.3.0/{file}", func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.PathValue("file")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	})
	return mux
}

// upgrade runs c3po upgrade of a copy of the program, and says what that copy is then.
// Without a page it is the project's.
func upgrade(t *testing.T, version, page string, variables ...string) (said, is string, code int) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("curl is not installed")
	}
	original, err := exec.LookPath("c3po")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	program := filepath.Join(home, "c3po")
	// A process that another test starts meanwhile would hold the file open for writing,
	// and nobody could start it.
	syscall.ForkLock.RLock()
	err = os.WriteFile(program, data, 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	env := append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "C3PO_RELEASES=" + page, versionVariable + "=" + version, topVariable + "=" + os.Getenv(topVariable), "GORACE=atexit_sleep_ms=0"}, variables...)
	run := func(args ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil { // else its code says it
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	said, code = run("upgrade")
	is, _ = run("version")
	left, err := filepath.Glob(filepath.Join(home, ".c3po-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
	return said, is, code
}

func TestUpgradeReplacesAProgramOfTheScriptByTheNewestRelease(t *testing.T) {
	t.Parallel()
	whole := release(t, func(map[string][]byte) {})
	said, is, code := upgrade(t, "v1.2.0", whole)
	if code != 0 || is != "the new one\n" || !strings.Contains(said, "/c3po is now v1.3.0; it was v1.2.0\n") {
		t.Errorf("it ends with %d and the program is %q:\n%s", code, is, said)
	}
	said, is, code = upgrade(t, "v1.3.0", whole)
	if code != 0 || is == "the new one\n" || said != "v1.3.0 is the newest release; nothing to do\n" {
		t.Errorf("the newest ends with %d and is %q:\n%s", code, is, said)
	}
}

func TestUpgradeChangesNothingItCannotVouchFor(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(map[string][]byte){
		"another archive":   func(files map[string][]byte) { files["checksums.txt"][0] ^= 1 },
		"no list of hashes": func(files map[string][]byte) { delete(files, "checksums.txt") },
	} {
		said, is, code := upgrade(t, "v1.2.0", release(t, spoil))
		if code != 1 || is == "the new one\n" || !strings.Contains(said, "c3po: v1.3.0 was not installed: ") || !strings.Contains(said, "hint: The program is unchanged.") {
			t.Errorf("%s: it ends with %d and the program is %q:\n%s", name, code, is, said)
		}
	}
	whole := release(t, func(map[string][]byte) {})
	if said, is, code := upgrade(t, "v1.2.0", whole, "CLAUDECODE=1"); code != 1 || is == "the new one\n" || !strings.Contains(said, "reserved for people") {
		t.Errorf("an agent ends with %d and the program is %q:\n%s", code, is, said)
	}
	if said, is, code := upgrade(t, "v1.2.0", "http://127.0.0.1:1"); code != 3 || is == "the new one\n" || !strings.Contains(said, "cannot be reached") {
		t.Errorf("without a page it ends with %d and the program is %q:\n%s", code, is, said)
	}
}

// Only somebody who names a mirror may go without a signature.
func TestUpgradeTakesNoUnsignedReleaseFromThePageOfTheProject(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("openssl is not installed")
	}
	github := asGitHub(t, http.StripPrefix("/c3po-dev/c3po/releases", releasePage(t, func(map[string][]byte) {})))
	for _, page := range []string{"", "https://github.com/c3po-dev/c3po/releases", "https://github.com/c3po-dev/c3po/releases/"} {
		said, is, code := upgrade(t, "v1.2.0", page, github...)
		if code != 1 || is == "the new one\n" || !strings.Contains(said, "c3po: v1.3.0 was not installed: the release has no signature") {
			t.Errorf("from %q it ends with %d and the program is %q:\n%s", page, code, is, said)
		}
	}
}

func TestUpgradeSaysThatNobodyCheckedTheSignature(t *testing.T) {
	t.Parallel()
	page := release(t, func(map[string][]byte) {})
	said, is, code := upgrade(t, "v1.2.0", page)
	if code != 0 || is != "the new one\n" || !strings.Contains(said, "warning: the signature was not checked: "+page+" has none\n") {
		t.Errorf("it ends with %d and the program is %q:\n%s", code, is, said)
	}
}
