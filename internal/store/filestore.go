package store

import (
	"context"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// FileShare is the part of a space's bytes of files that one agent may hold: a half.
	FileShare = 2
	// MaxFileHolders is how many messages can carry one file.
	MaxFileHolders = 256
	// FileRowBytes is what a file takes beside its bytes, about: an empty one is not free.
	FileRowBytes = 1 << 10
)

// A FileStep makes a place for a file.
type FileStep struct {
	c3po.Attachment
	From     c3po.AgentID
	Run      string // SUPERSEDED if another run holds From; empty passes
	Complete bool   // it has no bytes
}

// A ChunkStep adds to a file. Chunks have the size c3po.FileChunkBytes, but for the last.
type ChunkStep struct {
	ID       c3po.FileID
	From     c3po.AgentID
	Offset   int64
	Data     []byte
	Hash     []byte // of all bytes up to here: the state of the hash, to go on from
	Complete bool   // it was the last, and the hash is the one that was announced
}

// A FileRecord is what is known of a file.
type FileRecord struct {
	c3po.Attachment
	From     c3po.AgentID
	Offset   int64  // bytes that are stored
	Hash     []byte // as ChunkStep gave it; of a complete file nothing
	Complete bool
	Messages []c3po.MessageID // that carry it, as they were called then
	Looked   int64            // the lived second at which it is looked at; only Files says it
}

// A FileBook is what the files of a space take.
type FileBook struct {
	Lived int64
	Held  map[c3po.AgentID]int64 // bytes by sender, those that are announced too
}

type fileStore interface {
	// BeginFile makes a place for a file, and takes its whole size out of what the
	// space and its sender may hold: STORE_FULL. One that is there is left as it is, and
	// lives for another FileLife, or UploadLife while it is not complete.
	BeginFile(ctx context.Context, space c3po.Space, step FileStep) (FileRecord, error)
	// AppendFile stores the next bytes. What begins elsewhere than where the file ends
	// changes nothing: the record says how far it has come. A file of another agent, or
	// that was forgotten, is INVALID_REQUEST; STORE_FULL if there is no memory for it.
	AppendFile(ctx context.Context, space c3po.Space, step ChunkStep) (FileRecord, error)
	// DropFile forgets a file that no message carries any more, or by force any. It says
	// whether it did.
	DropFile(ctx context.Context, space c3po.Space, id c3po.FileID, force bool) (bool, error)
	// TrimFiles forgets files whose time is over: those that no message carries after
	// FileLife or UploadLife, and the others once the last message that carries them was
	// forgotten or cancelled. Trim does it too.
	TrimFiles(ctx context.Context, space c3po.Space) error

	// Reads.

	// Files are some of those of a space, from the one on that is looked at first, and
	// what all of them take.
	Files(ctx context.Context, space c3po.Space, skip, limit int) ([]FileRecord, FileBook, error)
	// File is nil if there is none.
	File(ctx context.Context, space c3po.Space, id c3po.FileID) (*FileRecord, error)
	// FileChunk is one chunk by its number, from 0. INTERNAL if it is damaged or missing.
	FileChunk(ctx context.Context, space c3po.Space, id c3po.FileID, number int64) ([]byte, error)
}

// RefuseNoFile is INVALID_REQUEST for a file that is not there, or not the caller's: the
// words are the same.
func RefuseNoFile(id c3po.FileID) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "there is no complete file '%s' of yours", id).
		Suggest("Upload it, then send within an hour.")
}

// RefuseFilesFull is STORE_FULL for a file that does not fit.
func RefuseFilesFull(why string) *c3po.Error {
	return c3po.Errorf(c3po.StoreFull, "there is no room for this file: %s", why).
		Suggest("The file is not stored. file_list shows what takes the room, and file_drop frees it. Files also go with the messages that carry them.")
}

// What files can be too many for.
const (
	FilesFillSpace  = "the space holds as many bytes of files as it may"
	FilesFillShare  = "you hold as many bytes of files as one agent may"
	FilesFillMemory = "the rest of Redis' memory is kept for mail"
)

// RefuseFileDamaged is INTERNAL for bytes that are not what was stored.
func RefuseFileDamaged(id c3po.FileID) *c3po.Error {
	return c3po.Errorf(c3po.Internal, "file '%s' is damaged in Redis", id).Suggest("Ask its sender to send it again.")
}
