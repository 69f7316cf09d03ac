package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
)

// controlOf reads what a package for Debian says of itself: an ar archive with a
// control.tar.gz that holds a file control.
func controlOf(deb []byte) ([]byte, error) {
	rest, found := bytes.CutPrefix(deb, []byte("!<arch>\n"))
	if !found {
		return nil, errors.New("it is no package for Debian")
	}
	const header = 60
	for len(rest) >= header {
		name := strings.TrimRight(strings.TrimSpace(string(rest[:16])), "/")
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || size < 0 || size > len(rest)-header {
			return nil, errors.New("a part of it has no size that can be")
		}
		part := rest[header : header+size]
		if name == "control.tar.gz" {
			return fileOf(part, "control")
		}
		rest = rest[min(len(rest), header+size+size%2):] // parts begin at even places
	}
	return nil, errors.New("it has no control.tar.gz")
}

// fileOf reads one file of a packed archive.
func fileOf(packed []byte, name string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	for archive := tar.NewReader(unzipped); ; {
		at, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it has no file " + name)
		}
		if err != nil {
			return nil, err
		}
		if path.Base(at.Name) == name {
			return io.ReadAll(io.LimitReader(archive, 1<<20))
		}
	}
}
