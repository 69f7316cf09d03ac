package meta

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/deploy"
)

// A releasePage serves the files of releases by their path below the page.
type releasePage map[string][]byte

func (p releasePage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := p[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if status, found := bytes.CutPrefix(data, []byte(answering)); found {
		code, _ := strconv.Atoi(string(status))
		w.WriteHeader(code)
		return
	}
	_, _ = w.Write(data)
}

// answering is what a file begins with for which the page has nothing but the status behind it.
const answering = "status "

// put adds a release that holds one program for this system.
func (p releasePage) put(t *testing.T, below, program string) {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, file := range []struct{ name, text string }{{"README.md", "read me"}, {"c3po", program}} {
		if err := archive.WriteHeader(&tar.Header{Name: file.name, Mode: 0o755, Uid: 4242, Gid: 4242, Size: int64(len(file.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(file.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	name := "c3po-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	p[below+name] = packed.Bytes()
	p[below+"checksums.txt"] = fmt.Appendf(nil, "%x  c3po-plan9-mips.tar.gz\n%x  %s\n", sha256.Sum256(nil), sha256.Sum256(packed.Bytes()), name)
}

// install runs the script as a person does and says what it printed and what it
// left in the folder of programs.
func install(t *testing.T, page releasePage, script string, variables []string, arguments ...string) (out string, left []string, err error) {
	t.Helper()
	for _, tool := range []string{"sh", "curl", "tar"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") != "true" {
			t.Skip(tool + " is not installed")
		}
	}
	server := httptest.NewServer(page)
	t.Cleanup(server.Close)
	home := t.TempDir()
	folder := filepath.Join(home, "bin")
	sh := exec.CommandContext(t.Context(), "sh", append([]string{"-s", "--"}, arguments...)...)
	sh.Stdin = strings.NewReader(script)
	sh.Dir = home
	sh.Env = append([]string{"HOME=" + home, "C3PO_BIN=" + folder, "C3PO_RELEASES=" + server.URL, "PATH=" + os.Getenv("PATH")}, variables...)
	said, err := sh.CombinedOutput()
	entries, _ := os.ReadDir(folder) // nothing was put there if there is no such folder
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if err == nil {
		ran, runErr := exec.CommandContext(t.Context(), filepath.Join(folder, "c3po")).Output()
		if runErr != nil {
			t.Errorf("what was installed does not run: %v", runErr)
		}
		said = append(said, ran...)
	}
	return string(said), left, err
}

func TestTheScriptInstallsTheNewestReleaseOrTheOneAskedFor(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "latest/download/", "#!/bin/sh\necho newest\n")
	page.put(t, "download/v1.2.3/", "#!/bin/sh\necho older\n")
	for _, want := range []struct{ variable, runs string }{{"C3PO_VERSION=", "newest"}, {"C3PO_VERSION=v1.2.3", "older"}} {
		out, left, err := install(t, page, deploy.InstallScript, []string{want.variable})
		if err != nil || len(left) != 1 || left[0] != "c3po" || !strings.HasSuffix(out, "\n"+want.runs+"\n") || !strings.Contains(out, "c3po is in ") {
			t.Errorf("with %s it leaves %v, %v:\n%s", want.variable, left, err, out)
		}
	}
}

func TestTheScriptInstallsNoReleaseItCannotVouchFor(t *testing.T) {
	t.Parallel()
	archive := "latest/download/c3po-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	for name, spoil := range map[string]func(releasePage){
		"another archive":   func(p releasePage) { p[archive] = append(p[archive], 0) },
		"no archive":        func(p releasePage) { delete(p, archive) },
		"no list of hashes": func(p releasePage) { delete(p, "latest/download/checksums.txt") },
		"a list without it": func(p releasePage) { p["latest/download/checksums.txt"] = []byte("nothing\n") },
		"a hash that is no hash": func(p releasePage) {
			p["latest/download/checksums.txt"] = []byte("x  " + filepath.Base(archive) + "\n")
		},
	} {
		page := releasePage{}
		page.put(t, "latest/download/", "#!/bin/sh\necho newest\n")
		spoil(page)
		out, left, err := install(t, page, deploy.InstallScript, nil)
		if err == nil || len(left) > 0 || !strings.Contains(out, "nothing was installed") {
			t.Errorf("%s: it leaves %v, %v:\n%s", name, left, err, out)
		}
	}
	page := releasePage{}
	page.put(t, "latest/download/", "#!/bin/sh\necho newest\n")
	for _, wrong := range []string{"C3PO_VERSION=1.2.3", "C3PO_VERSION=../../latest/download"} {
		if out, left, err := install(t, page, deploy.InstallScript, []string{wrong}); err == nil || len(left) > 0 {
			t.Errorf("%s: it leaves %v:\n%s", wrong, left, out)
		}
	}
	if out, left, err := install(t, page, deploy.InstallScript, nil, "c3po://192.0.2.1:8420/0a-secret"); err == nil || len(left) > 0 || !strings.Contains(out, "c3po invite") {
		t.Errorf("an invitation is taken for nothing:\n%s", out)
	}
}

func TestTheScriptOfAReleaseDoesNothingUnlessItCameWhole(t *testing.T) {
	t.Parallel()
	page := releasePage{}
	page.put(t, "latest/download/", "#!/bin/sh\necho newest\n")
	script := deploy.InstallScript
	for _, part := range []int{len(script) / 4, len(script) / 2, len(script) * 3 / 4, strings.LastIndex(script, "main")} {
		// What came is run to its end, which may well be no error.
		if _, left, _ := install(t, page, script[:part]+"\nexit 1\n", nil); len(left) > 0 {
			t.Errorf("the first %d bytes of it left %v", part, left)
		}
	}
}
