package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

const (
	// maxHandedFiles is how many files a hand-over names.
	maxHandedFiles = 50
	// handedFiles is where they are in the metadata of the answer.
	handedFiles = "files"
)

// A handedFile is a file that a session edits while it hands its work over, as the next
// agent finds it in the thread.
type handedFile struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // the first half of it; none if the file is gone
}

// handedFiles adds the files that the session edits to what an answer carries, unless the
// model has named some itself. Their leases move with the message.
func (l *leases) handedFiles(metadata json.RawMessage) json.RawMessage {
	l.mu.Lock()
	var files []handedFile
	for _, name := range slices.Sorted(maps.Keys(l.trees)) {
		tree := l.trees[name]
		for _, path := range slices.Sorted(maps.Keys(tree.numbers)) {
			if len(files) < maxHandedFiles {
				files = append(files, handedFile{path, tree.at.Branch, hashOf(filepath.Join(tree.checkout.Top, filepath.FromSlash(path)))})
			}
		}
	}
	l.mu.Unlock()
	with := map[string]any{}
	if len(files) == 0 || len(metadata) > 0 && json.Unmarshal(metadata, &with) != nil || with[handedFiles] != nil {
		return metadata
	}
	with[handedFiles] = files
	text, err := json.Marshal(with)
	if err != nil {
		return metadata
	}
	return text
}

// hashOf tells whether a file is still what it was.
func hashOf(name string) string {
	file, err := os.Open(name) // #nosec G304 -- the session edits it
	if err != nil {
		return ""
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:sha256.Size/2])
}
