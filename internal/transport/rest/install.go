package rest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/deploy"
)

// installer serves the script to a host that has nothing of ours. It is fetched
// over a connection that is known to end here, so it can say what else to trust.
func (s *server) installer(w http.ResponseWriter, r *http.Request) {
	offers, err := s.offers.all()
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	var rows []string
	for _, p := range offers {
		rows = append(rows, p.name+" "+p.sum)
	}
	text := strings.NewReplacer(deploy.InstallPinMark, s.join.Pin, deploy.InstallProgramsMark, strings.Join(rows, "\n")).Replace(deploy.InstallScript)
	w.Header().Set("Content-Type", "text/x-shellscript; charset=utf-8")
	_, _ = io.WriteString(w, text)
}

// program serves the program for one system.
func (s *server) program(w http.ResponseWriter, r *http.Request) {
	offers, err := s.offers.all()
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	name := r.PathValue("program")
	at := slices.IndexFunc(offers, func(p program) bool { return p.name == name })
	if at < 0 {
		writeJSON(w, http.StatusNotFound, c3po.Errorf(c3po.InvalidRequest, "this coordinator has no such program").
			Suggest("Put c3po-OS-ARCH, for example c3po-linux-arm64, beside its own program."))
		return
	}
	if s.downloads.Add(1) > maxDownloads {
		s.downloads.Add(-1)
		s.refuse(w, r, c3po.Errorf(c3po.RateLimited, "%d hosts are being given the program", maxDownloads).
			Suggest("Try again in a minute."))
		return
	}
	defer s.downloads.Add(-1)
	file, err := os.Open(offers[at].path)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, timedFile{file, time.Now().Add(maxDownloadTime)})
}

const (
	// maxDownloads at once: each holds a file and a connection, and needs no token.
	maxDownloads = 64
	// maxDownloadTime is long enough for 30 MB over a poor line.
	maxDownloadTime = 10 * time.Minute
)

// A timedFile cannot be read any more after a while.
type timedFile struct {
	*os.File
	until time.Time
}

func (f timedFile) Read(p []byte) (int, error) {
	if time.Now().After(f.until) {
		return 0, os.ErrDeadlineExceeded
	}
	return f.File.Read(p)
}

// programs are what this coordinator can give to a host: itself, and what was
// put beside it for other systems.
type programs struct {
	mu    sync.Mutex
	known map[string]program // by path
}

type program struct {
	name    string // c3po-OS-ARCH
	path    string
	sum     string // hex SHA-256
	size    int64
	changed time.Time
}

var programName = regexp.MustCompile(`^c3po-[a-z0-9]{1,16}-[a-z0-9]{1,16}$`)

// all finds them, and computes anew the sums of those that have changed.
func (p *programs) all() ([]program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here := "c3po-" + runtime.GOOS + "-" + runtime.GOARCH
	found := []program{{name: here, path: own}}
	beside, err := os.ReadDir(filepath.Dir(own))
	if err != nil {
		return nil, err
	}
	for _, entry := range beside {
		if name := entry.Name(); programName.MatchString(name) && name != here && entry.Type().IsRegular() {
			found = append(found, program{name: name, path: filepath.Join(filepath.Dir(own), name)})
		}
	}
	known := map[string]program{}
	for i := range found {
		if err := found[i].measure(p.known[found[i].path]); err != nil {
			return nil, err
		}
		known[found[i].path] = found[i]
	}
	p.known = known
	slices.SortFunc(found, func(a, b program) int { return cmp.Compare(a.name, b.name) })
	return found, nil
}

// measure fills in what is to know of a file, from what was known of it before
// if it is still the same.
func (p *program) measure(before program) error {
	info, err := os.Stat(p.path)
	if err != nil {
		return err
	}
	p.size, p.changed = info.Size(), info.ModTime()
	if before.sum != "" && before.size == p.size && before.changed.Equal(p.changed) {
		p.sum = before.sum
		return nil
	}
	file, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "read", Path: p.path, Err: fs.ErrInvalid}
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	p.sum = hex.EncodeToString(hash.Sum(nil))
	return nil
}
