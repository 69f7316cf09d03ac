package c3po

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// FileChunkBytes is how much of a file one call carries, at the most: with its checksum it
// fits what Redis allocates, 256 KiB, and a byte more would take 320. Every chunk but
// the last has this size, so that a chunk is found by its number.
const FileChunkBytes = 255 << 10

// UploadLife is how long a file waits for its next part. Then its upload begins anew.
const UploadLife = 10 * time.Minute

// A FileID names a file within its space: who uploaded which bytes under which name.
// Whoever uploads the same again continues where it stopped.
type FileID string

// NewFileID is the id of a file before a byte of it was sent. It holds the sender, so
// that nobody learns from an id whether another agent has the same file.
func NewFileID(from AgentID, name, kind string, size int64, sum string) FileID {
	whole := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%d:%s%d:%s", len(from), from, len(name), name, len(kind), kind, size, sum))
	return FileID(hex.EncodeToString(whole[:16]))
}

// An Attachment is a file that travels with a message: what it is, never its bytes.
type Attachment struct {
	ID     FileID `json:"id"`
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Type   string `json:"type,omitempty"`
	SHA256 string `json:"sha256"`
}

// FileInput begins the upload of a file, or finds out how far it has come.
type FileInput struct {
	Name   string `json:"name" jsonschema:"Its name, without a folder"`
	Size   int64  `json:"size" jsonschema:"In bytes" range:"0"`
	Type   string `json:"type,omitempty" jsonschema:"Media type, for example text/x-diff"`
	SHA256 string `json:"sha256" jsonschema:"Of the whole file, in hex"`
}

// FileChunkInput is the next part of a file.
type FileChunkInput struct {
	ID     FileID `json:"id" jsonschema:"As the upload's beginning named it"`
	Offset int64  `json:"offset" jsonschema:"Where the part begins" range:"0"`
	Data   []byte `json:"data" jsonschema:"The part in base64: 261120 bytes, or what is left"`
}

// A FileState is how far an upload has come.
type FileState struct {
	Attachment
	Offset   int64 `json:"offset"`   // so many bytes are stored; the next part begins here
	Complete bool  `json:"complete"` // all are, and they have the hash that was announced
}

// FileQuery asks for a part of a file that came with a message.
type FileQuery struct {
	MessageID MessageID `json:"message_id" jsonschema:"The message it is attached to"`
	File      FileID    `json:"file" jsonschema:"Its id in the message's attachments"`
	Offset    int64     `json:"offset,omitempty" jsonschema:"Where to begin; 0 if left out" range:"0"`
}

// A FilePart is bytes of a file: from Offset to the end of a chunk.
type FilePart struct {
	Attachment
	Offset int64  `json:"offset"`
	Data   []byte `json:"data"`
}

// FileListInput are the arguments of file_list.
type FileListInput struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"From an earlier page"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most" range:"0"`
}

// A HeldFile is a file that takes room in a space.
type HeldFile struct {
	Attachment
	From     AgentID `json:"from"`
	Offset   int64   `json:"offset"`            // so many bytes are stored; all of them are counted
	Messages int     `json:"messages"`          // that carry it, as far as was looked
	EndsIn   int     `json:"ends_in,omitempty"` // seconds until it is forgotten, while no message carries it
}

// A FileHolder is how much of the room for files one agent has.
type FileHolder struct {
	Agent AgentID `json:"agent"`
	Bytes int64   `json:"bytes"`
}

// FileList answers file_list: what takes the room for files, first what is looked at
// first. An agent sees its own files.
type FileList struct {
	Bytes    int64        `json:"bytes"`     // of all files of the space, announced ones too
	MaxBytes int64        `json:"max_bytes"` // that they may have; one agent may have half
	Holders  []FileHolder `json:"holders"`   // the largest first
	Files    []HeldFile   `json:"files"`
	Next     string       `json:"next_cursor,omitempty"`
}

// FileDropInput are the arguments of file_drop.
type FileDropInput struct {
	ID FileID `json:"id" jsonschema:"Of the file, as file_list shows it"`
}

// FileDropped answers file_drop.
type FileDropped struct {
	Bytes int64 `json:"bytes"` // that are free again
}

// RefuseFileSize is INVALID_REQUEST for a file that is too large.
func RefuseFileSize(name string, size, most int64) *Error {
	return Errorf(InvalidRequest, "%s has %d bytes; at most %d are allowed", Clip(name), size, most).Suggest("Compress it, or send a link to it.")
}

// RefuseFileCount is INVALID_REQUEST for a message with too many files.
func RefuseFileCount(count, most int) *Error {
	return Errorf(InvalidRequest, "%d files are attached; a message carries at most %d", count, most).Suggest("Send the others with another message, or as one archive.")
}

// FileTextInput are the arguments of file_text.
type FileTextInput struct {
	MessageID MessageID `json:"message_id" jsonschema:"The message it came with"`
	File      string    `json:"file,omitempty" jsonschema:"Its number or name there; the first if left out"`
	Offset    int64     `json:"offset,omitempty" jsonschema:"Byte to begin at" range:"0"`
}

// FileText answers file_text: a part of a text, or that the file is none.
type FileText struct {
	Attachment
	Offset int64  `json:"offset"`
	Text   string `json:"text,omitempty"`
	Binary bool   `json:"binary,omitempty"` // it is no text: only `c3po save` helps
	Next   int64  `json:"next,omitempty"`   // where the text goes on; nothing at its end
}
