package paths

import (
	"os"
	"path/filepath"
	"slices"
)

// Existing are the folders of c3po on this machine that are there, beside that of
// the settings. It makes none and sets nothing right: looking leaves no trace.
func (f Folders) Existing() []string {
	var all []string
	for _, b := range [][]string{{"XDG_STATE_HOME", ".local", "state"}, {"XDG_DATA_HOME", ".local", "share"}} {
		if dir, err := f.base(b[0], b[1:]...); err == nil {
			all = append(all, dir)
		}
	}
	if runtime := f.getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		all = append(all, filepath.Join(runtime, "c3po"))
	}
	return slices.DeleteFunc(all, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// Data is where files are kept that other programs read from us.
func (f Folders) Data() (string, error) {
	dir, err := f.base("XDG_DATA_HOME", ".local", "share")
	if err != nil {
		return "", err
	}
	return private(dir)
}
