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

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// maxHandedFiles is how many files a hand-over names.
	maxHandedFiles = 50
	// maxHashedBytes is how large a file may be whose hash it gives: a reply waits for it.
	maxHashedBytes = 64 << 20
	// handedFiles is where they are in the metadata of the answer.
	handedFiles = "files"
)

// A handedFile is a file that a session edits while it hands its work over, as the next
// agent finds it in the thread.
type handedFile struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	Hash   string `json:"sha256_prefix,omitempty"` // half of it is enough; none if the file is gone, no plain file, or large
}

// handedFiles adds the files that the session edits to what an answer carries, unless the
// model has named some itself. Their leases move with the message.
func (l *leases) handedFiles(metadata json.RawMessage) json.RawMessage {
	with := map[string]any{}
	if len(metadata) > 0 && json.Unmarshal(metadata, &with) != nil || with[handedFiles] != nil {
		return metadata
	}
	files, names := l.heldFiles()
	if len(files) == 0 {
		return metadata
	}
	for i := range files { // without the lock: an edit does not wait for large files
		files[i].Hash = hashOf(names[i])
	}
	for ; len(files) > 0; files = files[:len(files)-1] { // an answer with too long metadata would be refused
		with[handedFiles] = files
		if text, err := json.Marshal(with); err == nil && len(text) <= c3po.DefaultLimits().MetadataBytes {
			return text
		}
	}
	return metadata
}

// heldFiles are the files that the session edits, and where they are.
func (l *leases) heldFiles() (files []handedFile, names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.trees)) {
		tree := l.trees[name]
		for _, path := range slices.Sorted(maps.Keys(tree.numbers)) {
			if len(files) < maxHandedFiles {
				files = append(files, handedFile{Path: path, Branch: tree.at.Branch})
				names = append(names, filepath.Join(tree.checkout.Top, filepath.FromSlash(path)))
			}
		}
	}
	return files, names
}

// hashOf tells whether a file is still what it was.
func hashOf(name string) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxHashedBytes {
		return "" // a named pipe would be waited for
	}
	file, err := os.Open(name) // #nosec G304 -- the session edits it
	if err != nil {
		return ""
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(file, maxHashedBytes)); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:sha256.Size/2])
}
