package hub

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"mime"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

const (
	maxFileNameBytes = 255
	maxFileTypeBytes = 100
)

// FileBegin makes a place for a file, or says how far its upload has come.
func (a *Actor) FileBegin(ctx context.Context, in c3po.FileInput) (c3po.FileState, error) {
	if err := a.hub.checkFile(in); err != nil {
		return c3po.FileState{}, err
	}
	if err := a.enter(ctx); err != nil {
		return c3po.FileState{}, err
	}
	step := store.FileStep{From: a.id, Run: a.caller.Run, Complete: in.Size == 0}
	step.Attachment = c3po.Attachment{
		ID: c3po.NewFileID(a.id, in.Name, in.Type, in.Size, in.SHA256), Name: in.Name, Size: in.Size, Type: in.Type, SHA256: in.SHA256,
	}
	record, err := a.hub.store.BeginFile(ctx, a.space, step)
	if errors.Is(err, c3po.StoreFull) {
		// What nobody needs any more goes hourly, or now.
		if trimmed := a.hub.store.TrimFiles(ctx, a.space); trimmed == nil {
			record, err = a.hub.store.BeginFile(ctx, a.space, step)
		}
	}
	return stateOf(record), a.dropIfSuperseded(err)
}

func (h *Hub) checkFile(in c3po.FileInput) error {
	if err := checkGiven("name", in.Name); err != nil {
		return err
	}
	if err := checkLabels(label{"name", in.Name, maxFileNameBytes}, label{"type", in.Type, maxFileTypeBytes}); err != nil {
		return err
	}
	if strings.ContainsAny(in.Name, `/\`) || in.Name == "." || in.Name == ".." {
		return refuse("%q is not the name of a file", in.Name).Suggest("Give its name without a folder.")
	}
	if _, _, err := mime.ParseMediaType(in.Type); in.Type != "" && err != nil {
		return refuse("%q is not a media type", in.Type).Suggest("Write it as text/plain, or leave it out.")
	}
	if sum, err := hex.DecodeString(in.SHA256); err != nil || len(sum) != sha256.Size || strings.ToLower(in.SHA256) != in.SHA256 {
		return refuse("sha256 must be 64 hex digits in lower case")
	}
	if most := int64(h.limits.FileBytes); in.Size < 0 || in.Size > most {
		return c3po.RefuseFileSize(in.Name, in.Size, most)
	}
	if empty := sha256.Sum256(nil); in.Size == 0 && in.SHA256 != hex.EncodeToString(empty[:]) {
		return refuseHash(in.Name)
	}
	return nil
}

func refuseHash(name string) *c3po.Error {
	return refuse("the bytes of %q do not have the sha256 that was announced", name).Suggest("Upload it again: it may have changed meanwhile.")
}

func stateOf(record store.FileRecord) c3po.FileState {
	return c3po.FileState{Attachment: record.Attachment, Offset: record.Offset, Complete: record.Complete}
}

// FileAppend stores the next part of a file. With its last byte the whole is held to
// its hash, which goes on from part to part: no coordinator reads a file twice.
func (a *Actor) FileAppend(ctx context.Context, in c3po.FileChunkInput) (c3po.FileState, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.FileState{}, err
	}
	record, err := a.hub.store.File(ctx, a.space, in.ID)
	if err != nil {
		return c3po.FileState{}, err
	}
	if record == nil || record.From != a.id {
		return c3po.FileState{}, store.RefuseNoFile(in.ID)
	}
	if record.Complete || in.Offset != record.Offset {
		return stateOf(*record), nil // a repeat, or after a loss: it goes on from here
	}
	if want := min(record.Size-record.Offset, c3po.FileChunkBytes); int64(len(in.Data)) != want {
		return c3po.FileState{}, refuse("the part at %d has %d bytes, not %d", in.Offset, len(in.Data), want).
			Suggest("Send parts of %d bytes, and the last with what is left.", c3po.FileChunkBytes)
	}
	state, sum, err := hashOn(record.Hash, in.Data)
	if err != nil {
		return c3po.FileState{}, store.RefuseFileDamaged(in.ID)
	}
	last := in.Offset+int64(len(in.Data)) == record.Size
	if last && sum != record.SHA256 {
		if _, err := a.hub.store.DropFile(ctx, a.space, in.ID, false); err != nil {
			return c3po.FileState{}, err
		}
		return c3po.FileState{}, refuseHash(record.Name)
	}
	stored, err := a.hub.store.AppendFile(ctx, a.space, store.ChunkStep{ID: in.ID, From: a.id, Offset: in.Offset, Data: in.Data, Hash: state, Complete: last})
	return stateOf(stored), err
}

// hashOn goes on with a hash. It gives its new state, and what it would be if that were all.
func hashOn(state, data []byte) ([]byte, string, error) {
	sum := sha256.New()
	if len(state) > 0 {
		if err := sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
			return nil, "", err
		}
	}
	sum.Write(data)
	state, err := sum.(encoding.BinaryMarshaler).MarshalBinary()
	return state, hex.EncodeToString(sum.Sum(nil)), err
}

// FileRead gives a part of a file to those who may read the message that carries it. To
// everybody else, and when the message is forgotten, there is no such file.
func (a *Actor) FileRead(ctx context.Context, in c3po.FileQuery) (c3po.FilePart, error) {
	if err := checkID(in.MessageID); err != nil {
		return c3po.FilePart{}, err
	}
	if err := a.enterForThread(ctx); err != nil {
		return c3po.FilePart{}, err
	}
	file, err := a.attachment(ctx, in.MessageID, string(in.File), func(f c3po.Attachment, _ int) bool { return f.ID == in.File })
	if err != nil {
		return c3po.FilePart{}, err
	}
	if in.Offset < 0 || in.Offset > file.Size {
		return c3po.FilePart{}, refuse("offset is %d; the file has %d bytes", in.Offset, file.Size)
	}
	part := c3po.FilePart{Attachment: *file, Offset: in.Offset}
	if part.Data, err = a.fileBytes(ctx, *file, in.Offset); err != nil {
		return c3po.FilePart{}, err
	}
	if in.Offset == 0 && a.caller.Person() {
		a.recordSave(ctx, in)
	}
	return part, nil
}

// recordSave has the audit say that a person took a copy of a file, once for each.
func (a *Actor) recordSave(ctx context.Context, in c3po.FileQuery) {
	if arguments, err := json.Marshal(in); err == nil {
		a.hub.acted(ctx, a.caller, a.ID(), c3po.Operation{Name: "file_read"}, arguments, "")
	}
}

// fileBytes are those of a file from an offset to the end of its chunk.
func (a *Actor) fileBytes(ctx context.Context, file c3po.Attachment, offset int64) ([]byte, error) {
	if offset == file.Size {
		return nil, nil
	}
	chunk, err := a.hub.store.FileChunk(ctx, a.space, file.ID, offset/c3po.FileChunkBytes)
	if err != nil {
		if record, missing := a.hub.store.File(ctx, a.space, file.ID); missing == nil && record == nil {
			err = c3po.Errorf(c3po.InvalidRequest, "%q is not kept here any more", c3po.Clip(file.Name)).Suggest("Ask its sender to send it again.")
		}
		return nil, err
	}
	return chunk[min(offset%c3po.FileChunkBytes, int64(len(chunk))):], nil
}

// attachment finds a file of a message that the caller may read: one it has a part in, or
// any if it may read everything.
func (a *Actor) attachment(ctx context.Context, message c3po.MessageID, name string, is func(file c3po.Attachment, number int) bool) (*c3po.Attachment, error) {
	unknown := c3po.Errorf(c3po.InvalidRequest, "there is no file '%s' with a message '%s' that you may read", c3po.Clip(name), message).
		Suggest("Copy both from the message. A file is forgotten with the messages that carry it, or if they are cancelled.")
	entry, err := a.hub.store.Message(ctx, a.space, message)
	if err != nil {
		return nil, err
	}
	if entry == nil || !entry.Facts.Cancelled.IsZero() {
		return nil, unknown
	}
	if !a.caller.SeesAll() {
		mine, err := a.names(ctx)
		if err != nil {
			return nil, err
		}
		if !a.mayRead(mine, entry.Message) {
			return nil, unknown
		}
	}
	for i, file := range entry.Message.Attachments {
		if is(file, i+1) {
			return &file, nil
		}
	}
	return nil, unknown
}

// attached describes files that the caller has uploaded, for a message that carries them.
func (o outbox) attached(ctx context.Context, ids []c3po.FileID) ([]c3po.Attachment, error) {
	if most := o.hub.limits.MessageFiles; len(ids) > most {
		return nil, c3po.RefuseFileCount(len(ids), most)
	}
	var files []c3po.Attachment
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return nil, refuse("file '%s' is attached twice", id).Suggest("Name each file once. The same bytes under the same name are one file.")
		}
		record, err := o.hub.store.File(ctx, o.space, id)
		if err != nil {
			return nil, err
		}
		if record == nil || record.From != o.id || !record.Complete {
			return nil, store.RefuseNoFile(id)
		}
		files = append(files, record.Attachment)
	}
	return files, nil
}
