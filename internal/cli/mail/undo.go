package mail

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// An undo is what the files of a patch were before it: git apply may stop in the middle,
// at a full disk or a folder it may not write to, and leaves what it has done by then.
type undo struct {
	top, folder string // of the working tree; of what is kept
	files       []string
	modes       map[string]fs.FileMode // of the folders above them
}

// keep remembers files of a working tree. A name of a file takes no room, so that putting
// it back works on a full disk too.
func keep(top, gitFolder string, files []string) (*undo, error) {
	folder, err := os.MkdirTemp(gitFolder, "c3po-apply-")
	if err != nil {
		return nil, err
	}
	u := &undo{top: filepath.Clean(top), folder: folder, files: files, modes: map[string]fs.FileMode{}}
	for i, file := range files {
		if err := u.keepOne(i, file); err != nil {
			u.drop()
			return nil, err
		}
	}
	return u, nil
}

func (u *undo) keepOne(i int, file string) error {
	for above := filepath.Dir(u.name(file)); len(above) > len(u.top); above = filepath.Dir(above) {
		if is, err := os.Lstat(above); err == nil {
			u.modes[above] = is.Mode().Perm()
		}
	}
	is, err := os.Lstat(u.name(file))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		return err
	case is.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(u.name(file))
		if err != nil {
			return err
		}
		return os.Symlink(target, u.kept(i))
	case !is.Mode().IsRegular():
		return nil // git apply writes nothing but files and links
	}
	if os.Link(u.name(file), u.kept(i)) == nil {
		return nil
	}
	return copyFile(u.name(file), u.kept(i), is.Mode().Perm()) // a disk without links, or another one
}

func (u *undo) name(file string) string { return filepath.Join(u.top, filepath.FromSlash(file)) }
func (u *undo) kept(i int) string       { return filepath.Join(u.folder, strconv.Itoa(i)) }

// restore puts every file back, and names those that it could not.
func (u *undo) restore() (changed []string) {
	var again []int
	for i, file := range u.files { // what is new goes first: it may be where a folder was
		if _, err := os.Lstat(u.kept(i)); err == nil {
			again = append(again, i)
		} else if is, err := os.Lstat(u.name(file)); err == nil && !is.IsDir() && os.Remove(u.name(file)) != nil {
			changed = append(changed, file)
		}
	}
	for _, file := range u.files {
		for above := filepath.Dir(u.name(file)); len(above) > len(u.top); above = filepath.Dir(above) {
			if _, was := u.modes[above]; was || os.Remove(above) != nil { // only an empty one goes
				break
			}
		}
	}
	for _, i := range again {
		if !sameFile(u.kept(i), u.name(u.files[i])) && u.putBack(i) != nil {
			changed = append(changed, u.files[i])
		}
	}
	slices.Sort(changed)
	return changed
}

func (u *undo) putBack(i int) error {
	name := u.name(u.files[i])
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	for above := filepath.Dir(name); len(above) > len(u.top); above = filepath.Dir(above) {
		if mode, was := u.modes[above]; was {
			if is, err := os.Lstat(above); err == nil && is.Mode().Perm() != mode {
				_ = os.Chmod(above, mode) // the file counts
			}
		}
	}
	return os.Rename(u.kept(i), name)
}

func (u *undo) drop() { _ = os.RemoveAll(u.folder) }

// sameFile reports whether what is at two places is one file, or cannot be told apart.
func sameFile(a, b string) bool {
	isA, errA := os.Lstat(a)
	isB, errB := os.Lstat(b)
	if errA != nil || errB != nil || isA.Mode() != isB.Mode() {
		return false
	}
	if os.SameFile(isA, isB) {
		return true
	}
	if isA.Mode()&fs.ModeSymlink != 0 {
		toA, errA := os.Readlink(a)
		toB, errB := os.Readlink(b)
		return errA == nil && errB == nil && toA == toB
	}
	if isA.Size() != isB.Size() {
		return false
	}
	textA, errA := os.ReadFile(a) // #nosec G304 -- a file of the patch, or what is kept of it
	textB, errB := os.ReadFile(b) // #nosec G304 -- the other one
	return errA == nil && errB == nil && bytes.Equal(textA, textB)
}

func copyFile(from, to string, mode fs.FileMode) error {
	source, err := os.Open(from) // #nosec G304 -- a file of the patch
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200) // #nosec G304 -- in a folder just made
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(to, mode)
	}
	return err
}
