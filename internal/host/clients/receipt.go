package clients

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/configedit"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// A receipt is what was done to the files of a client. With it files that nobody
// has touched since become again what they were, byte for byte.
type receipt struct {
	Client  string  `json:"client"`
	Project string  `json:"project,omitempty"`
	Files   []entry `json:"files"`
}

type entry struct {
	Path    string            `json:"path"`
	Existed bool              `json:"existed"`           // before us
	Backup  string            `json:"backup,omitempty"`  // the file with the text before us
	After   string            `json:"after"`             // the sum of the text with ours in it
	Undo    []configedit.Undo `json:"undo,omitempty"`    // for a file that was changed since
	Folders []string          `json:"folders,omitempty"` // that were made for it, the outermost first

	before []byte
}

func (r receipt) entry(path string) (entry, bool) {
	for _, e := range r.Files {
		if e.Path == path {
			return e, true
		}
	}
	return entry{}, false
}

const receiptFile = "receipt.json"

// folder is where the receipt and the backups of one installation are.
func (i Installer) folder() string {
	name := i.Client.Name
	if i.Place.Project != "" {
		name += "-" + sum([]byte(i.Place.Project))[:16]
	}
	return filepath.Join(i.Folder, name)
}

func (i Installer) receiptName() string { return filepath.Join(i.folder(), receiptFile) }

func (i Installer) backupName(path string) string {
	return filepath.Join(i.folder(), sum([]byte(path))[:8]+"-"+filepath.Base(path))
}

// backup is the text that was there before us.
func (e entry) backup() ([]byte, error) {
	if !e.Existed {
		return nil, nil
	}
	return os.ReadFile(e.Backup)
}

// keep writes the text that was there before us to our folder.
func (i Installer) keep(e entry) error {
	err := os.MkdirAll(i.folder(), 0o700)
	if err == nil {
		err = paths.WriteFile(e.Backup, e.before)
	}
	if err != nil {
		return c3po.Errorf(c3po.Internal, "cannot keep a backup of %s: %w", e.Path, err).Suggest("Check who owns %s.", i.Folder)
	}
	return nil
}

func readReceipt(name string) (receipt, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return receipt{}, nil
	}
	var r receipt
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, c3po.Errorf(c3po.Internal, "cannot read %s: %w", name, err).Suggest("Remove it; c3po then takes out what it recognises.")
	}
	return r, nil
}

func (r receipt) write(name string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err == nil {
		err = paths.WriteFile(name, append(data, '\n'))
	}
	return err
}

// sharedWith is another client that has the file too, if there is one, and what
// it has done to the file.
func (i Installer) sharedWith(path string) (string, entry, error) {
	names, err := filepath.Glob(filepath.Join(i.Folder, "*", receiptFile))
	if err != nil {
		return "", entry{}, err
	}
	for _, name := range names {
		if name == i.receiptName() {
			continue
		}
		r, err := readReceipt(name)
		if err != nil {
			return "", entry{}, err
		}
		if e, has := r.entry(path); has {
			return r.Client, e, nil
		}
	}
	return "", entry{}, nil
}

// Installed says whether c3po was installed into the client here.
func (i Installer) Installed() bool { return exists(i.receiptName()) }
