// Package paths knows where c3po keeps its files on this machine: the folders,
// which only their owner can read, and the note a running coordinator leaves.
package paths

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/c3po-dev/c3po/c3po"
)

// maxSocketPathBytes is how long the path of a unix socket may be: systems take 104
// or 108 bytes, the ending included.
const maxSocketPathBytes = 100

// Folders finds the folders through the environment of the process.
type Folders struct {
	Getenv func(string) string // os.Getenv if nil
}

// State is where what must survive is kept: data, logs, the note of a running
// coordinator.
func (f Folders) State() (string, error) {
	dir, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return "", err
	}
	return private(dir)
}

// Config is where settings are kept.
func (f Folders) Config() (string, error) {
	dir, err := f.base("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", err
	}
	return private(dir)
}

// ConfigFile is where a file of settings of that name would be. Unlike Config it
// makes no folder: looking leaves no trace.
func (f Folders) ConfigFile(name string) (string, error) {
	dir, err := f.base("XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, name), err
}

// StateFile is where a file of that name among what must survive would be. It
// makes no folder either.
func (f Folders) StateFile(name string) (string, error) {
	dir, err := f.base("XDG_STATE_HOME", ".local", "state")
	return filepath.Join(dir, name), err
}

// Socket is where the unix socket of that name belongs: in the runtime folder
// of the session, else in the state folder, else, if its path would be too long
// for a socket, in a folder of its own among the temporary files.
func (f Folders) Socket(name string) (string, error) {
	path, err := f.SocketFile(name)
	if err != nil {
		return "", err
	}
	dir, err := private(filepath.Dir(path))
	return filepath.Join(dir, name), err
}

// SocketFile is where the socket of that name would be. It makes no folder.
func (f Folders) SocketFile(name string) (string, error) {
	state, err := f.base("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return "", err
	}
	dir := state
	if session := f.getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(session) {
		dir = filepath.Join(session, "c3po")
	}
	if len(filepath.Join(dir, name)) > maxSocketPathBytes {
		dir = f.shortFolder(state)
	}
	return filepath.Join(dir, name), nil
}

// shortFolder is where sockets go whose path would be too long elsewhere. It is named
// after the state folder, so that whoever shares that finds them.
func (f Folders) shortFolder(state string) string {
	sum := sha256.Sum256([]byte(state))
	return filepath.Join(f.temporary(), fmt.Sprintf("c3po-%d-%s", os.Getuid(), hex.EncodeToString(sum[:4])))
}

// RemoveEmptySocketFolder removes the short folder among the temporary files once no
// socket is left in it.
func (f Folders) RemoveEmptySocketFolder() {
	if state, err := f.base("XDG_STATE_HOME", ".local", "state"); err == nil {
		_ = os.Remove(f.shortFolder(state)) // refused while something is in it
	}
}

func (f Folders) base(variable string, underHome ...string) (string, error) {
	// The specification of these variables says to ignore relative ones.
	if dir := f.getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "c3po"), nil
	}
	home := f.getenv("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", c3po.Errorf(c3po.InvalidRequest, "no home folder is known").
				Suggest("Set HOME, or %s.", variable)
		}
	}
	return filepath.Join(append(append([]string{home}, underHome...), "c3po")...), nil
}

func (f Folders) temporary() string {
	if dir := f.getenv("TMPDIR"); filepath.IsAbs(dir) && len(dir) < maxSocketPathBytes/2 {
		return dir
	}
	if runtime.GOOS == "windows" {
		return os.TempDir()
	}
	return "/tmp"
}

func (f Folders) getenv(name string) string {
	if f.Getenv == nil {
		return os.Getenv(name)
	}
	return f.Getenv(name)
}

// within is a folder of the state folder that only this user may enter. It is made if it
// is not there.
func (f Folders) within(name string) (string, error) {
	state, err := f.State()
	if err != nil {
		return "", err
	}
	return private(filepath.Join(state, name))
}

// private makes a folder that only its owner can enter, and refuses one that
// somebody else made in its place.
func private(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", c3po.Errorf(c3po.InvalidRequest, "cannot make the folder %s: %w", dir, err).
			Suggest("Check who owns it and its parents.")
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !OwnedByUs(info) {
		return "", c3po.Errorf(c3po.Forbidden, "the folder %s belongs to somebody else", dir).
			Suggest("Remove it, or point XDG_STATE_HOME and XDG_RUNTIME_DIR at folders of your own.")
	}
	if info.Mode().Perm()&0o077 != 0 {
		// #nosec G302 -- a folder is entered by its x
		if err := os.Chmod(dir, 0o700); err != nil {
			return "", c3po.Errorf(c3po.Forbidden, "the folder %s is open to others: %w", dir, err).
				Suggest("Run chmod 700 on it.")
		}
	}
	return dir, nil
}
