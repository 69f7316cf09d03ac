package packages_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/c3po-dev/c3po/tools/packages"
)

// deb is a package for Debian with that control file.
func deb(t *testing.T, control string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	if err := archive.WriteHeader(&tar.Header{Name: "./control", Mode: 0o644, Size: int64(len(control))}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(control)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	all := []byte("!<arch>\n")
	for _, part := range []struct {
		name string
		data []byte
	}{{"debian-binary", []byte("2.0")}, {"control.tar.gz", packed.Bytes()}} { // the first has an odd length
		all = fmt.Appendf(all, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", part.name, 0, 0, 0, "100644", len(part.data), part.data)
		if len(part.data)%2 == 1 {
			all = append(all, '\n')
		}
	}
	return all
}

// release is one with all files that goreleaser makes.
func release(t *testing.T) packages.Release {
	t.Helper()
	files := fstest.MapFS{}
	var sums strings.Builder
	for _, name := range []string{
		"c3po-linux-amd64.tar.gz", "c3po-linux-arm64.tar.gz", "c3po-darwin-amd64.tar.gz", "c3po-darwin-arm64.tar.gz",
		"c3po-windows-amd64.zip", "c3po-windows-arm64.zip", "c3po-linux-amd64.deb",
	} {
		data := []byte(name)
		if strings.HasSuffix(name, ".deb") {
			data = deb(t, "Package: c3po\nVersion: 1.2.3\nArchitecture: amd64\n")
			files[name] = &fstest.MapFile{Data: data}
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
	}
	files["checksums.txt"] = &fstest.MapFile{Data: []byte(sums.String())}
	return packages.Release{Tag: "v1.2.3", When: time.Unix(1_700_000_000, 0), Files: files}
}

func TestEveryPackageManagerGetsTheHashesOfTheRelease(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := release(t).Write(folder); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	zip := fmt.Sprintf("%x", sha256.Sum256([]byte("c3po-windows-amd64.zip")))
	var scoop struct {
		Version      string
		Architecture map[string]struct{ URL, Hash string }
	}
	if err := json.Unmarshal([]byte(read("c3po.json")), &scoop); err != nil {
		t.Fatal(err)
	}
	if got := scoop.Architecture["64bit"]; scoop.Version != "1.2.3" || got.Hash != zip || got.URL != "https://github.com/c3po-dev/c3po/releases/download/v1.2.3/c3po-windows-amd64.zip" {
		t.Errorf("Scoop is told of %s, %+v", scoop.Version, got)
	}
	for _, want := range []string{"PackageVersion: 1.2.3\n", "/v1.2.3/c3po-windows-arm64.zip\n", "InstallerSha256: " + strings.ToUpper(zip) + "\n"} {
		if text := read("c3po-dev.c3po.installer.yaml"); !strings.Contains(text, want) {
			t.Errorf("winget is not told %q:\n%s", want, text)
		}
	}
	index := read("Packages")
	if !strings.HasPrefix(index, "Package: c3po\nVersion: 1.2.3\nArchitecture: amd64\nFilename: c3po-linux-amd64.deb\nSize: ") {
		t.Errorf("apt is told\n%s", index)
	}
	if want := fmt.Sprintf(" %x %d Packages\n", sha256.Sum256([]byte(index)), len(index)); !strings.HasSuffix(read("Release"), want) {
		t.Errorf("Release has no line %q:\n%s", want, read("Release"))
	}
	unzipped, err := gzip.NewReader(strings.NewReader(read("c3po-flake.tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unzipped)
	if _, err := archive.Next(); err != nil {
		t.Fatal(err)
	}
	var flake bytes.Buffer
	if _, err := flake.ReadFrom(archive); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(flake.String(), `hash = "sha256-`); got != 4 || !strings.Contains(flake.String(), `version = "1.2.3"`) {
		t.Errorf("the flake has %d hashes:\n%s", got, flake.String())
	}
}

func TestAReleaseThatIsNotWholeIsNotDescribed(t *testing.T) {
	t.Parallel()
	for why, spoil := range map[string]func(*packages.Release, fstest.MapFS){
		"no tag": func(r *packages.Release, _ fstest.MapFS) { r.Tag = "1.2.3" },
		"checksums.txt has no": func(_ *packages.Release, f fstest.MapFS) {
			_, f["checksums.txt"].Data, _ = bytes.Cut(f["checksums.txt"].Data, []byte("\n"))
		},
		"is not what":   func(_ *packages.Release, f fstest.MapFS) { f["c3po-linux-amd64.deb"].Data = []byte("!<arch>\n") },
		"has the line":  func(_ *packages.Release, f fstest.MapFS) { f["checksums.txt"].Data = []byte("nothing\n") },
		"no package":    func(_ *packages.Release, f fstest.MapFS) { delete(f, "c3po-linux-amd64.deb") },
		"checksums.txt": func(_ *packages.Release, f fstest.MapFS) { delete(f, "checksums.txt") },
	} {
		r := release(t)
		spoil(&r, r.Files.(fstest.MapFS))
		if err := r.Write(t.TempDir()); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want a word about %q", err, why)
		}
	}
}

func TestTwoRunsWriteTheSame(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	for _, folder := range []string{one, two} {
		if err := release(t).Write(folder); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(one)
	if err != nil || len(entries) != 7 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, entry := range entries {
		a, errA := os.ReadFile(filepath.Join(one, entry.Name()))
		b, errB := os.ReadFile(filepath.Join(two, entry.Name()))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs", entry.Name())
		}
	}
}
