package engine

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// passwordName is the file with the server's password, as the server reads it: no
// argument of a process, and no variable, holds it.
func passwordName(dir string) string { return filepath.Join(dir, "password.conf") }

const passwordSetting = "requirepass "

// readPassword is the password of the folder's server; empty if it has none.
func readPassword(dir string) (string, error) {
	data, err := os.ReadFile(passwordName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	password, ok := strings.CutPrefix(strings.TrimSpace(string(data)), passwordSetting)
	if err == nil && (!ok || password == "" || strings.ContainsAny(password, " \n\"'")) {
		err = errors.New("it holds no password")
	}
	if err != nil {
		return "", c3po.Errorf(c3po.RedisUnavailable, "cannot read %s: %w", passwordName(dir), err).
			Suggest("Run `c3po down`, remove the file, and run `c3po up`.")
	}
	return password, nil
}

// keepPassword is the password of the folder's server, made if there is none.
func keepPassword(dir string) (string, error) {
	password, err := readPassword(dir)
	if password != "" || err != nil {
		return password, err
	}
	password = rand.Text() + rand.Text()
	return password, paths.WriteFile(passwordName(dir), []byte(passwordSetting+password+"\n"))
}

// Open is an address with the password, if it is that of the folder's own server
// and has none.
func Open(dir, address string) (string, error) {
	socket := readNote(dir).Socket
	if socket == "" || strings.TrimPrefix(address, "unix://") != socket {
		return address, nil
	}
	password, err := readPassword(dir)
	return (&Engine{Socket: socket, password: password}).URL(), err
}

// privateCommand is a program whose files are for its own user only.
func privateCommand(program string, args []string) *exec.Cmd {
	return exec.Command("/bin/sh", append([]string{"-c", `umask 077 && exec "$@"`, "sh", program}, args...)...)
}

// closeFiles takes from others what an older version let them read.
func closeFiles(dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return skipGone(err)
		}
		info, err := entry.Info()
		if err != nil {
			return skipGone(err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			return skipGone(os.Chmod(name, mode&0o700))
		}
		return nil
	})
}

// skipGone passes over a file that a running server has removed meanwhile.
func skipGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
