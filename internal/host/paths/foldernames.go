package paths

import (
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
)

const foldersFolder = "folders"

// OtherFolder is another folder of this host that gave an agent of a space its name before
// and is still there; empty if there is none. It writes nothing.
func (f Folders) OtherFolder(space c3po.Space, id c3po.AgentID, folder string) (string, error) {
	dir, err := f.StateFile(foldersFolder)
	if err != nil {
		return "", err
	}
	noted, err := os.ReadFile(filepath.Join(dir, nameNote(space, id)))
	if err != nil || string(noted) == realPath(folder) {
		return "", nil
	}
	if info, err := os.Stat(string(noted)); err == nil && info.IsDir() {
		return string(noted), nil
	}
	return "", nil
}

// NoteFolder keeps which folder of this host gave an agent of a space its name, unless
// another one that did is still there.
func (f Folders) NoteFolder(space c3po.Space, id c3po.AgentID, folder string) error {
	if other, err := f.OtherFolder(space, id, folder); err != nil || other != "" {
		return err
	}
	dir, err := f.within(foldersFolder)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, nameNote(space, id))
	if noted, err := os.ReadFile(name); err == nil && string(noted) == realPath(folder) {
		return nil
	}
	return WriteFile(name, []byte(realPath(folder)))
}

func nameNote(space c3po.Space, id c3po.AgentID) string { return string(id) + "@" + string(space) }

func realPath(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		return real
	}
	return folder
}
