package paths

import (
	"os"
	"path/filepath"
	"strings"
)

// leasedFolder has a file for each working tree in which a person has decided about leases
// on this host: "on" or "off", and where it is.
const leasedFolder = "leased"

// DecideLeases keeps that leases were switched on or off in a working tree.
func (f Folders) DecideLeases(tree string, on bool) error {
	dir, err := f.within(leasedFolder)
	if err != nil {
		return err
	}
	decided := "off "
	if on {
		decided = "on "
	}
	return WriteFile(filepath.Join(dir, projectName(tree)), []byte(decided+tree))
}

// LeasesDecided reports whether a person has decided about leases in a working tree.
func (f Folders) LeasesDecided(tree string) bool {
	name, err := f.StateFile(leasedFolder)
	if err != nil {
		return true
	}
	_, err = os.Stat(filepath.Join(name, projectName(tree)))
	return err == nil
}

// Leased lists the working trees of this host in which leases were switched on.
func (f Folders) Leased() ([]string, error) {
	dir, err := f.StateFile(leasedFolder)
	if err != nil {
		return nil, err
	}
	files, _ := os.ReadDir(dir) // where none is, nobody has decided anything
	var trees []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		if tree, on := strings.CutPrefix(string(text), "on "); on {
			trees = append(trees, tree)
		}
	}
	return trees, nil
}
