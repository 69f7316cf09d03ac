// Package packages writes what other package managers need to know of a release, from
// the release's own files: manifests for Scoop and winget, a Nix flake, and the index of
// an apt repository. Nothing in them is written by hand, so no hash can be of another
// release.
package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
)

// The page of releases, below which each has its files.
const page = "https://github.com/c3po-dev/c3po/releases/download"

//go:embed templates
var templates embed.FS

var (
	tagged  = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	oneLine = regexp.MustCompile(`^([0-9a-f]{64})  (\S+)$`)
)

// A Release is what was published under a tag.
type Release struct {
	Tag  string    // v1.2.3
	When time.Time // of its commit, so that two runs write the same
	// Files is where its files are: checksums.txt, and the packages for Debian.
	Files fs.FS
}

// A file of a release, as templates see it.
type file struct{ Name, URL, SHA256 string }

// SRI is the hash in the form of Nix.
func (f file) SRI() (string, error) {
	sum, err := hex.DecodeString(f.SHA256)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum), err
}

// Upper is the hash in the form of winget.
func (f file) Upper() string { return strings.ToUpper(f.SHA256) }

// Write puts all of it into a folder.
func (r Release) Write(folder string) error {
	texts, err := r.texts()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for name, text := range texts {
		// #nosec G306 -- it is published
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// texts are the files to write, by name.
func (r Release) texts() (map[string][]byte, error) {
	if !tagged.MatchString(r.Tag) {
		return nil, fmt.Errorf("%q is no tag of a release, such as v1.2.3", r.Tag)
	}
	sums, err := r.sums()
	if err != nil {
		return nil, err
	}
	of := func(name string) (file, error) {
		sum, found := sums[name]
		if !found {
			return file{}, fmt.Errorf("checksums.txt has no %s", name)
		}
		return file{Name: name, URL: page + "/" + r.Tag + "/" + name, SHA256: sum}, nil
	}
	all := map[string][]byte{}
	parsed, err := template.New("").Funcs(template.FuncMap{"file": of}).ParseFS(templates, "templates/*")
	if err != nil {
		return nil, err
	}
	for _, one := range parsed.Templates() {
		var text bytes.Buffer
		if err := one.Execute(&text, map[string]any{"Tag": r.Tag, "Version": strings.TrimPrefix(r.Tag, "v")}); err != nil {
			return nil, err
		}
		all[one.Name()] = text.Bytes()
	}
	// Nix takes a flake from an archive at an address.
	if all["c3po-flake.tar.gz"], err = packed("c3po/flake.nix", all["flake.nix"], r.When); err != nil {
		return nil, err
	}
	delete(all, "flake.nix")
	if all["Packages"], err = r.index(sums); err != nil {
		return nil, err
	}
	all["Release"] = r.head(all["Packages"])
	return all, nil
}

// sums are the hashes of the files, by name.
func (r Release) sums() (map[string]string, error) {
	list, err := fs.ReadFile(r.Files, "checksums.txt")
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(list)) {
		found := oneLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if found == nil {
			return nil, fmt.Errorf("checksums.txt has the line %q", line)
		}
		sums[found[2]] = found[1]
	}
	return sums, nil
}

// index is the list of packages of an apt repository whose files lie beside it.
func (r Release) index(sums map[string]string) ([]byte, error) {
	names, err := fs.Glob(r.Files, "*.deb")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no package for Debian")
	}
	slices.Sort(names)
	var all bytes.Buffer
	for _, name := range names {
		data, err := fs.ReadFile(r.Files, name)
		if err != nil {
			return nil, err
		}
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		if sums[name] != sum {
			return nil, fmt.Errorf("%s is not what checksums.txt says", name)
		}
		control, err := controlOf(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&all, "%s\nFilename: %s\nSize: %d\nSHA256: %s\n\n", strings.TrimSpace(string(control)), path.Base(name), len(data), sum)
	}
	return all.Bytes(), nil
}

// head is what apt reads first, and what is signed.
func (r Release) head(index []byte) []byte {
	return fmt.Appendf(nil, "Origin: c3po\nLabel: c3po\nSuite: stable\nDate: %s\nArchitectures: amd64 arm64 armhf\nDescription: coding agents ask each other for help\nSHA256:\n %x %d Packages\n",
		r.When.UTC().Format("Mon, 02 Jan 2006 15:04:05 UTC"), sha256.Sum256(index), len(index))
}

// packed is an archive of one file.
func packed(name string, text []byte, when time.Time) ([]byte, error) {
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	archive := tar.NewWriter(zipped)
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: when}); err != nil {
		return nil, err
	}
	if _, err := archive.Write(text); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err := zipped.Close()
	return data.Bytes(), err
}
