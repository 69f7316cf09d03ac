package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// An Installer brings c3po into one client, and out of it.
type Installer struct {
	Client Client
	Place  Place
	// Folder is ours: it keeps what files were like before, and what was done.
	Folder string
}

// A Change is one file that becomes another.
type Change struct {
	Path   string
	Before []byte
	After  []byte
	Backup string // where the text before us is kept; empty if there was none
	Remove bool   // the file goes
	Left   string // why the file stays as it is though something of ours is in it

	entry entry
}

// Diff shows the change, line by line.
func (c Change) Diff() string {
	return string(diff.Diff(c.Path, c.Before, c.Path+" (with the change)", c.After))
}

// PlanInstall says what installing changes. What is in place already is no change.
func (i Installer) PlanInstall() ([]Change, error) {
	files, known, err := i.files()
	if err != nil {
		return nil, err
	}
	var plan []Change
	for _, f := range files {
		c, err := i.planAdd(f, known)
		if err != nil {
			return nil, i.about(f, err)
		}
		plan = append(plan, c)
	}
	return plan, nil
}

func (i Installer) planAdd(f File, known receipt) (Change, error) {
	now, there, err := read(f.Path)
	if err != nil {
		return Change{}, err
	}
	after, undo, err := f.Add(now)
	if err != nil {
		return Change{}, err
	}
	c := Change{Path: f.Path, Before: now, After: after, entry: entry{Path: f.Path, Existed: there, Undo: undo}}
	c.entry.before = now
	old, ok := known.entry(f.Path)
	if !ok && f.Shared {
		var other string
		if other, old, err = i.sharedWith(f.Path); err != nil {
			return c, err
		}
		ok = other != ""
	}
	if ok {
		// What was there before us is what counts, not what we have made of it.
		c.entry.Existed, c.entry.Folders = old.Existed, old.Folders
		c.entry.Undo = append(old.Undo, undo...)
		if old.After == sum(now) {
			c.entry.before, err = old.backup()
		} else {
			c.entry.before, err = f.Remove(now, c.entry.Undo)
		}
	}
	c.entry.After = sum(after)
	if c.entry.Existed {
		c.entry.Backup = i.backupName(f.Path)
		c.Backup = c.entry.Backup
	}
	return c, err
}

// PlanUninstall says what taking c3po out changes.
func (i Installer) PlanUninstall() ([]Change, error) {
	files, known, err := i.files()
	if err != nil {
		return nil, err
	}
	var plan []Change
	for _, f := range slices.Backward(files) {
		c, err := i.planRemove(f, known)
		if err != nil {
			return nil, i.about(f, err)
		}
		if c.Path != "" {
			plan = append(plan, c)
		}
	}
	return plan, nil
}

func (i Installer) planRemove(f File, known receipt) (Change, error) {
	now, there, err := read(f.Path)
	if err != nil || !there {
		return Change{}, err
	}
	old, ours := known.entry(f.Path)
	c := Change{Path: f.Path, Before: now, After: now, entry: old}
	if f.Shared {
		if !ours {
			return Change{}, nil
		}
		if other, _, err := i.sharedWith(f.Path); other != "" || err != nil {
			c.Left = other + " has it too"
			return c, err
		}
	}
	switch {
	case ours && old.After == sum(now) && !old.Existed:
		c.After, c.Remove = nil, true
	case ours && old.After == sum(now):
		c.After, err = old.backup()
	default:
		c.After, err = f.Remove(now, old.Undo)
		c.Remove = err == nil && ours && !old.Existed && len(bytes.TrimSpace(c.After)) == 0
		if ours && bytes.Equal(c.After, now) {
			c.Left = "somebody has changed it"
		}
	}
	return c, err
}

func (i Installer) files() ([]File, receipt, error) {
	files, err := i.Client.Files(i.Place)
	if err != nil {
		return nil, receipt{}, err
	}
	known, err := readReceipt(i.receiptName())
	return files, known, err
}

// about says which file an error is about.
func (i Installer) about(f File, err error) error {
	if e, ok := errors.AsType[*c3po.Error](err); ok {
		return c3po.Because(err, e.Code, fmt.Sprintf("%s is not changed: %s", f.Path, e.Message)).Suggest("%s", e.Suggestion)
	}
	return c3po.Errorf(c3po.Internal, "%s is not changed: %w", f.Path, err).Suggest("Check who owns the file.")
}

// Install makes the changes of PlanInstall.
func (i Installer) Install(plan []Change) error {
	var done receipt
	for _, c := range plan {
		if c.entry.Backup != "" {
			if err := i.keep(c.entry); err != nil {
				return err
			}
		}
		if !bytes.Equal(c.Before, c.After) || !exists(c.Path) {
			made, err := write(c.Path, c.After)
			if err != nil {
				return c3po.Errorf(c3po.Internal, "cannot write %s: %w", c.Path, err).Suggest("Check who owns the folder.")
			}
			c.entry.Folders = append(c.entry.Folders, made...)
		}
		done.Files = append(done.Files, c.entry)
	}
	done.Client, done.Project = i.Client.Name, i.Place.Project
	return done.write(i.receiptName())
}

// Uninstall makes the changes of PlanUninstall and forgets what was known.
func (i Installer) Uninstall(plan []Change) error {
	edited := false
	for _, c := range plan {
		switch {
		case c.Left != "":
		case c.Remove:
			if err := os.Remove(c.Path); err != nil {
				return c3po.Errorf(c3po.Internal, "cannot remove %s: %w", c.Path, err).Suggest("Check who owns the folder.")
			}
			for _, folder := range slices.Backward(c.entry.Folders) {
				_ = os.Remove(folder) // if it is empty: else somebody uses it
			}
		case !bytes.Equal(c.Before, c.After):
			edited = edited || c.entry.After != sum(c.Before)
			if _, err := write(c.Path, c.After); err != nil {
				return c3po.Errorf(c3po.Internal, "cannot write %s: %w", c.Path, err).Suggest("Check who owns the folder.")
			}
		}
	}
	if err := os.Remove(i.receiptName()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if edited {
		return nil // the person may want to look what the files were like
	}
	return os.RemoveAll(i.folder())
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// write replaces a file whole, where a link leads, with the rights it had. It
// says which folders it has made, the outermost first.
func write(name string, text []byte) (made []string, err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	for dir := filepath.Dir(name); !exists(dir); dir = filepath.Dir(dir) {
		made = append([]string{dir}, made...)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err := paths.WriteFile(name, text); err != nil {
		return made, err
	}
	if err == nil {
		return made, os.Chmod(name, info.Mode().Perm())
	}
	return made, nil
}
