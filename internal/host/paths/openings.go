package paths

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// An Opening is a client that runs and has not shown yet which session it has: it may be any
// of its folder.
type Opening struct {
	Client string `json:"client"`
	Folder string `json:"folder"`
	Run    string `json:"run"`
}

const openingsFolder = "openings"

// NoteOpening keeps an opening until it is forgotten.
func (f Folders) NoteOpening(o Opening) error {
	dir, err := f.within(openingsFolder)
	if err != nil {
		return err
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, noteOf(o.Run)), append(data, '\n'))
}

// Openings are those that were noted and not forgotten. The client of one may have ended.
func (f Folders) Openings() []Opening {
	dir, err := f.StateFile(openingsFolder)
	if err != nil {
		return nil
	}
	names, _ := os.ReadDir(dir) // there is none before the first
	var all []Opening
	for _, name := range names {
		var o Opening
		if data, err := os.ReadFile(filepath.Join(dir, name.Name())); err == nil && json.Unmarshal(data, &o) == nil {
			all = append(all, o)
		}
	}
	return all
}

// ForgetOpening is for a client that has shown which session it has, or has ended.
func (f Folders) ForgetOpening(run string) error {
	dir, err := f.StateFile(openingsFolder)
	if err == nil {
		err = os.Remove(filepath.Join(dir, noteOf(run)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
