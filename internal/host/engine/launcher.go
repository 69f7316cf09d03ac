package engine

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// launcherName is where it is kept, beside the data: what has written the data is what
// reads it.
func launcherName(dir string) string { return filepath.Join(dir, "launcher.json") }

// KeepLauncher makes a command start the servers of a folder from now on, instead of
// the program on the PATH: one that runs a container, say. The arguments of the server
// follow it. It must live as long as the server, end it when it is terminated, and let
// it have the folder by the same name. Nil takes that back.
func KeepLauncher(dir string, command []string) error {
	if command == nil {
		if err := os.Remove(launcherName(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(command)
	if err != nil {
		return err
	}
	return paths.WriteFile(launcherName(dir), data)
}

// Available says why no server can be started for a folder; nil if one can.
func Available(dir string) error {
	_, _, err := starter(dir)
	return err
}

// starter is what starts the servers of a folder, and whether it is a launcher.
func starter(dir string) (command []string, isLauncher bool, err error) {
	data, err := os.ReadFile(launcherName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		program, err := Program()
		return []string{program}, false, err
	}
	if err == nil {
		err = json.Unmarshal(data, &command)
	}
	if err != nil || len(command) == 0 {
		return nil, false, c3po.Errorf(c3po.RedisUnavailable, "cannot read %s: %w", launcherName(dir), err).
			Suggest("Remove the file and run `c3po up`.")
	}
	return command, true, nil
}
