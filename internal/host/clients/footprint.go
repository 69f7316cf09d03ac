package clients

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/configedit"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A Footprint is how the files and folders were that a client's own commands
// change when c3po is installed with them. With it they become that again, byte
// for byte, if nobody has changed them since.
type Footprint struct {
	Files   []trace  `json:"files"`
	Folders []string `json:"folders,omitempty"` // that were not there, the outermost first
}

type trace struct {
	Path    string      `json:"path"`
	Existed bool        `json:"existed"`
	Before  []byte      `json:"before,omitempty"`
	Mode    os.FileMode `json:"mode,omitempty"`
	After   string      `json:"after"` // the sum of the text with ours in it
}

const (
	noFile = "none"
	// touched is the sum of a text that somebody else has changed: no text has it.
	touched = "touched"
)

// TakeFootprint looks at files and folders before anything is done.
func TakeFootprint(files, folders []string) (Footprint, error) {
	var f Footprint
	for _, path := range files {
		text, there, err := read(path)
		if err != nil {
			return f, err
		}
		one := trace{Path: path, Existed: there, Before: text}
		if info, err := os.Stat(path); err == nil {
			one.Mode = info.Mode().Perm()
		}
		f.Files = append(f.Files, one)
	}
	for _, folder := range folders {
		if !exists(folder) {
			f.Folders = append(f.Folders, folder)
		}
	}
	return f, nil
}

// ReadFootprint reads what Write has written. There may be none.
func ReadFootprint(name string) (f Footprint, there bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return f, false, c3po.Errorf(c3po.Internal, "cannot read %s: %w", name, err).Suggest("Remove it; c3po then takes out what it recognises.")
	}
	return f, true, nil
}

// Write keeps the footprint in a file of ours.
func (f Footprint) Write(name string) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err == nil {
		err = paths.WriteFile(name, append(data, '\n'))
	}
	return err
}

// Untouched are the files that are as they were left.
func (f Footprint) Untouched() map[string]bool {
	as := map[string]bool{}
	for _, one := range f.Files {
		as[one.Path] = sumOf(one.Path) == one.After
	}
	return as
}

// Again is the footprint of an installation that is about to be repeated. What was
// changed by somebody else in between cannot become what it was any more.
func (f Footprint) Again() Footprint {
	as := f.Untouched()
	f.Files = slices.Clone(f.Files)
	for i := range f.Files {
		if !as[f.Files[i].Path] {
			f.Files[i].After = touched
		}
	}
	return f
}

// Leave notes how the files are left. Files that appeared in a folder that was not
// there are part of it.
func (f Footprint) Leave() Footprint {
	f.Files = slices.Clone(f.Files)
	for _, folder := range f.Folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			known := slices.ContainsFunc(f.Files, func(one trace) bool { return one.Path == path })
			if entry.Type().IsRegular() && !known {
				f.Files = append(f.Files, trace{Path: path})
			}
		}
	}
	for i := range f.Files {
		if f.Files[i].After != touched {
			f.Files[i].After = sumOf(f.Files[i].Path)
		}
	}
	return f
}

// Restore makes files what they were. as is what was untouched before the client
// took its own things out; from a file that was changed, tidy takes what is left.
func (f Footprint) Restore(as map[string]bool, tidy func(path string, before, now []byte) []byte) error {
	for _, one := range f.Files {
		now, there, err := read(one.Path)
		if err != nil {
			return err
		}
		want, keep := one.Before, one.Existed
		if !as[one.Path] {
			want = tidy(one.Path, one.Before, now)
			keep = there && (one.Existed || want != nil)
		}
		switch {
		case !keep && there:
			err = os.Remove(one.Path)
		case keep && (!there || string(want) != string(now)):
			if _, err = write(one.Path, want); err == nil && one.Existed {
				err = os.Chmod(one.Path, one.Mode)
			}
		}
		if err != nil {
			return c3po.Errorf(c3po.Internal, "cannot restore %s: %w", one.Path, err).Suggest("Check who owns the folder.")
		}
	}
	return nil
}

// RemoveFolders removes the folders that were not there, unless somebody uses them.
func (f Footprint) RemoveFolders() {
	for _, folder := range slices.Backward(f.Folders) {
		_ = os.Remove(folder) // if it is empty
	}
}

func sumOf(path string) string {
	text, there, err := read(path)
	switch {
	case err != nil:
		return touched
	case !there:
		return noFile
	default:
		return sum(text)
	}
}

// WithoutEmpty takes empty objects of these names, that were not there before, out
// of a text of JSON. A text that then says what the one before said becomes that
// one. Nothing is left of one that there was none of before: nil.
func WithoutEmpty(before, now []byte, names ...string) []byte {
	var was, is map[string]any
	if json.Unmarshal(now, &is) != nil || len(before) > 0 && json.Unmarshal(before, &was) != nil {
		return now
	}
	text := now
	for _, name := range names {
		object, _ := is[name].(map[string]any)
		if _, had := was[name]; had || object == nil || len(object) > 0 {
			continue
		}
		edited, err := configedit.JSON{Members: []configedit.Member{{Path: []string{name}}}}.Remove(text, nil)
		if err != nil {
			return now
		}
		text = edited
		delete(is, name)
	}
	switch {
	case len(before) > 0 && reflect.DeepEqual(was, is):
		return before
	case len(before) == 0 && len(is) == 0:
		return nil
	}
	return text
}
