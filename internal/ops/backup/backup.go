// Package backup keeps what a coordinator knows in one file, and puts it back.
// The file is a tar: manifest.json, which says what is in it, and a snapshot of
// each Redis master in Redis's own format. A backup that was never loaded is a
// hope; so it is loaded into a throw-away Redis, where the books of every space
// must balance, before it is called verified.
package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// Format is the version of the file. A later one is refused.
const Format = 1

const manifestName = "manifest.json"

// A Manifest says what a backup holds.
type Manifest struct {
	Format   int       `json:"format"`
	Made     time.Time `json:"made"`
	Version  string    `json:"version"` // of the c3po that made it
	Verified bool      `json:"verified"`
	Spaces   []Space   `json:"spaces,omitempty"`
	Files    []File    `json:"files"`
}

// A Space is what one space of a verified backup holds.
type Space struct {
	Space   c3po.Space `json:"space"`
	Agents  int64      `json:"agents"`
	Sent    int64      `json:"sent"`
	Pending int64      `json:"pending"`
}

// A File is one snapshot.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Config says of which Redis, and by whom.
type Config struct {
	RedisURL string
	Version  string
	Now      func() time.Time
}

// Make writes a backup. It is not verified where there is no Redis server to
// load it into.
func Make(ctx context.Context, cfg Config, out io.Writer) (Manifest, error) {
	dir, err := os.MkdirTemp("", "c3po-backup-")
	if err != nil {
		return Manifest{}, err
	}
	defer os.RemoveAll(dir)
	names, err := redisstore.Snapshot(ctx, cfg.RedisURL, dir)
	if err != nil {
		return Manifest{}, err
	}
	made := Manifest{Format: Format, Made: cfg.Now().UTC().Truncate(time.Second), Version: cfg.Version}
	if made.Files, err = describe(names); err != nil {
		return Manifest{}, err
	}
	if _, err := engine.Program(); err == nil {
		if made.Spaces, err = verify(ctx, names); err != nil {
			return Manifest{}, err
		}
		made.Verified = true
	}
	return made, pack(out, made, names)
}

func describe(names []string) ([]File, error) {
	var files []File
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		size, err := io.Copy(sum, file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		files = append(files, File{filepath.Base(name), size, hex.EncodeToString(sum.Sum(nil))})
	}
	return files, nil
}

func pack(out io.Writer, made Manifest, names []string) error {
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	if err := archive.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text)), ModTime: made.Made}); err != nil {
		return err
	}
	if _, err := archive.Write(text); err != nil {
		return err
	}
	for i, name := range names {
		if err := archive.WriteHeader(&tar.Header{Name: made.Files[i].Name, Mode: 0o600, Size: made.Files[i].Size, ModTime: made.Made}); err != nil {
			return err
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(archive, file)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return archive.Close()
}

// verify loads the snapshots and goes through the books of every space.
func verify(ctx context.Context, names []string) ([]Space, error) {
	loaded, err := load(ctx, names)
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	return books(ctx, loaded.URL())
}

// load is one Redis with everything the snapshots hold.
func load(ctx context.Context, names []string) (*engine.Throwaway, error) {
	if len(names) == 1 {
		return engine.StartThrowaway(ctx, names[0])
	}
	all, err := engine.StartThrowaway(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := merge(ctx, name, all.URL()); err != nil {
			all.Close()
			return nil, err
		}
	}
	return all, nil
}

func merge(ctx context.Context, name, into string) error {
	one, err := engine.StartThrowaway(ctx, name)
	if err != nil {
		return err
	}
	defer one.Close()
	_, err = transfer(ctx, one.URL(), into)
	return err
}

// transfer copies all keys of one Redis to another.
func transfer(ctx context.Context, from, to string) (int, error) {
	source, err := redisstore.Open(ctx, redisstore.Config{URL: from})
	if err != nil {
		return 0, err
	}
	defer source.Close()
	target, err := redisstore.Open(ctx, redisstore.Config{URL: to})
	if err != nil {
		return 0, err
	}
	defer target.Close()
	return source.CopyTo(ctx, target)
}

// books holds every space against itself: what was sent must be there, or have ended.
func books(ctx context.Context, url string) ([]Space, error) {
	store, err := redisstore.Open(ctx, redisstore.Config{URL: url})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	spaces, err := store.Spaces(ctx)
	if err != nil {
		return nil, err
	}
	h := hub.New(hub.Config{Store: store, Limits: c3po.DefaultLimits()})
	var all []Space
	for _, space := range spaces {
		audit, err := Balance(ctx, h, space, fmt.Sprintf("the books of space %s do not balance", space), fmt.Sprintf("Run `c3po fsck --space %s` where the data comes from.", space))
		if err != nil {
			return nil, err
		}
		all = append(all, Space{space, audit.Agents, audit.Sent, audit.Pending})
	}
	return all, nil
}

// Balance goes through the books of one space, and refuses in these words if they do
// not balance.
func Balance(ctx context.Context, h *hub.Hub, space c3po.Space, message, advice string) (c3po.Audit, error) {
	audit, err := h.Fsck(ctx, space)
	if err == nil && !audit.Balanced {
		err = c3po.Errorf(c3po.Internal, "%s: %s", message, fmt.Sprint(audit.Problems)).Suggest("%s", advice)
	}
	return audit, err
}

// CheckFormat refuses a file of a format that this program does not read.
func CheckFormat(what string, format, reads int, version string) error {
	if format == reads {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "the %s is of format %d, this c3po reads format %d", what, format, reads).Suggest("Use c3po %s or later.", version)
}
