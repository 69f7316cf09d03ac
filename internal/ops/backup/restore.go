package backup

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
)

// Restored says what is back.
type Restored struct {
	Manifest Manifest `json:"manifest"`
	Spaces   []Space  `json:"spaces"`
	Keys     int      `json:"keys"`
}

// Restore puts a backup into a Redis that holds nothing of ours. Numbers go on
// beyond those that may have been given out after the backup was made, in a new
// epoch: what was acknowledged since then is lost, and agents are told to look
// anew instead of believing that they have seen everything.
func Restore(ctx context.Context, cfg Config, in io.Reader) (Restored, error) {
	target, err := redisstore.Open(ctx, redisstore.Config{URL: cfg.RedisURL})
	if err != nil {
		return Restored{}, err
	}
	defer target.Close()
	if empty, err := target.Empty(ctx); err != nil {
		return Restored{}, err
	} else if !empty {
		return Restored{}, c3po.Errorf(c3po.InvalidRequest, "this Redis holds mail of c3po already").
			Suggest("A backup replaces nothing. To go back: run `c3po down`, move the folder redis away from the data that `c3po status` names, and restore again.")
	}
	dir, err := os.MkdirTemp("", "c3po-restore-")
	if err != nil {
		return Restored{}, err
	}
	defer os.RemoveAll(dir)
	manifest, names, err := unpack(in, dir)
	if err != nil {
		return Restored{}, err
	}
	loaded, err := load(ctx, names)
	if err != nil {
		return Restored{}, err
	}
	defer loaded.Close()
	// Before anything is written: a damaged backup must not leave half of itself.
	if _, err := books(ctx, loaded.URL()); err != nil {
		return Restored{}, err
	}
	done := Restored{Manifest: manifest}
	if done.Keys, err = transfer(ctx, loaded.URL(), cfg.RedisURL); err != nil {
		return Restored{}, err
	}
	if err := begin(ctx, target); err != nil {
		return Restored{}, err
	}
	done.Spaces, err = books(ctx, cfg.RedisURL)
	return done, err
}

// begin raises the epoch of every space.
func begin(ctx context.Context, redis *redisstore.Store) error {
	spaces, err := redis.Spaces(ctx)
	if err != nil {
		return err
	}
	for _, space := range spaces {
		at, err := redis.Sequence(ctx, space)
		if err != nil {
			return err
		}
		if _, _, err := redis.RaiseEpoch(ctx, space, store.Sequence{Epoch: at.Epoch, Last: at.Last + 1}); err != nil {
			return err
		}
	}
	return nil
}

// maxManifest is more than any manifest is long.
const maxManifest = 1 << 20

// unpack puts the snapshots into dir. Only what the manifest names is taken, and
// only if it is what was put in.
func unpack(in io.Reader, dir string) (Manifest, []string, error) {
	archive := tar.NewReader(in)
	var m Manifest
	header, err := archive.Next()
	if err != nil || header.Name != manifestName {
		return m, nil, errDamaged("it does not begin with a manifest")
	}
	if err := json.NewDecoder(io.LimitReader(archive, maxManifest)).Decode(&m); err != nil {
		return m, nil, errDamaged("its manifest cannot be read")
	}
	if err := CheckFormat("backup", m.Format, Format, m.Version); err != nil {
		return m, nil, err
	}
	if len(m.Files) == 0 {
		return m, nil, errDamaged("it holds no snapshot")
	}
	var names []string
	for _, want := range m.Files {
		header, err := archive.Next()
		if err != nil || header.Name != want.Name || header.Size != want.Size || filepath.Base(want.Name) != want.Name {
			return m, nil, errDamaged("snapshot " + want.Name + " is missing or cut off")
		}
		name := filepath.Join(dir, want.Name)
		if err := writeNew(name, archive); err != nil {
			return m, nil, errDamaged(err.Error())
		}
		names = append(names, name)
	}
	found, err := describe(names)
	if err != nil {
		return m, nil, err
	}
	for i, f := range found {
		if f != m.Files[i] {
			return m, nil, errDamaged("snapshot " + f.Name + " is not what was put in")
		}
	}
	return m, names, nil
}

func writeNew(name string, from io.Reader) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}

func errDamaged(how string) error {
	return c3po.Errorf(c3po.InvalidRequest, "this is no whole backup: %s", how).Suggest("Use another copy of it.")
}
