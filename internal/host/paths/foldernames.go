package paths

import (
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po"
)

const foldersFolder = "folders"

// NoteFolder keeps which folder of this host gave an agent of a space its name, and
// returns another one that did so before and is still there.
func (f Folders) NoteFolder(space c3po.Space, id c3po.AgentID, folder string) (other string, err error) {
	state, err := f.State()
	if err != nil {
		return "", err
	}
	dir, err := private(filepath.Join(state, foldersFolder))
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	name := filepath.Join(dir, string(id)+"@"+string(space))
	noted, err := os.ReadFile(name)
	if err == nil && string(noted) == folder {
		return "", nil
	}
	if info, err := os.Stat(string(noted)); err == nil && info.IsDir() {
		return string(noted), nil
	}
	return "", WriteFile(name, []byte(folder))
}
