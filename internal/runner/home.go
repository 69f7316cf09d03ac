package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
)

// claudeRC is ~/.claude.json, in the template as in a home.
const claudeRC = ".claude.json"

// maxTemplateBytes bounds what is copied for each agent.
const maxTemplateBytes = 64 << 20

// setupHome is where a login is made: nothing that an agent has written before
// may see it.
const setupHome = "setup"

// A home is what of ~ is an agent's own: what its containers write there is
// read by no other's.
type home struct{ claude, rc string }

// homeKey names the home of a launch: an agent's by its name, that of a prompt or
// a shell by the folder it works in.
func homeKey(l launch) string {
	if l.agent.Name != "" {
		return "agent-" + l.agent.Name
	}
	if l.instead != nil {
		return setupHome
	}
	sum := sha256.Sum256([]byte(l.agent.Workspace))
	return "folder-" + string(c3po.AgentIDFromFolder(filepath.Base(l.agent.Workspace))) + "-" + hex.EncodeToString(sum[:4])
}

// home makes the home of a launch, with what the person wants in every one of
// them as it is now.
func (r *Runner) home(l launch, user owner) (home, error) {
	folder := filepath.Join(r.cfg.Places.Homes, homeKey(l))
	h := home{claude: filepath.Join(folder, "claude"), rc: filepath.Join(folder, "claude.json")}
	if err := os.MkdirAll(h.claude, 0o700); err != nil {
		return home{}, cannotMake(h.claude, err)
	}
	template := r.cfg.Places.Template
	rc, err := os.ReadFile(filepath.Join(template, claudeRC))
	if err != nil {
		rc = []byte("{}\n")
	}
	if err := writeNew(h.rc, rc); err != nil && !errors.Is(err, fs.ErrExist) {
		return home{}, cannotMake(h.rc, err)
	}
	if err := copyTemplate(template, h.claude, user); err != nil {
		return home{}, c3po.Errorf(c3po.InvalidRequest, "cannot copy %s into %s: %w", template, h.claude, err).
			Suggest("Keep only files and folders there, %d MB at most.", maxTemplateBytes>>20)
	}
	return h, user.takeAll(h.claude, h.rc)
}

// copyTemplate brings a home up to date with the template. A container has
// written to the home before: no link in it leads out of it, and what is not a
// file or folder of the template is not copied.
func copyTemplate(template, claude string, user owner) error {
	template, err := filepath.EvalSymlinks(template)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there need not be one
	}
	if err != nil {
		return err
	}
	to, err := os.OpenRoot(claude)
	if err != nil {
		return err
	}
	defer to.Close()
	left := int64(maxTemplateBytes)
	return filepath.WalkDir(template, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		way, err := filepath.Rel(template, name)
		if err != nil || way == "." || way == claudeRC {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			// What stands there instead is the agent's own doing, and gives way.
			if is, err := to.Lstat(way); err == nil && !is.IsDir() {
				if err := to.Remove(way); err != nil {
					return err
				}
			}
			if err := to.MkdirAll(way, 0o700); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			if left -= info.Size(); left < 0 {
				return errors.New("it is too large")
			}
			if is, err := to.Lstat(way); err == nil && is.Mode().IsRegular() && is.Size() == info.Size() && is.ModTime().Equal(info.ModTime()) {
				return nil
			}
			if err := copyFile(name, to, way, info); err != nil {
				return err
			}
		default:
			return nil
		}
		if !user.give {
			return nil
		}
		return to.Lchown(way, user.uid, user.gid)
	})
}

func copyFile(name string, to *os.Root, way string, info fs.FileInfo) error {
	if err := to.RemoveAll(way); err != nil {
		return err
	}
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	file, err := to.OpenFile(way, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.LimitReader(from, info.Size()))
	return errors.Join(err, file.Close(), to.Chtimes(way, info.ModTime(), info.ModTime()))
}
