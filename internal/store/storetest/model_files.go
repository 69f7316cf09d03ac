package storetest

import (
	"cmp"
	"context"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

type file struct {
	record store.FileRecord
	look   int64 // the lived second at which it is looked at
	chunks map[int64][]byte
}

// told is what callers see of a file: a copy.
func (f *file) told() store.FileRecord {
	record := f.record
	record.Hash, record.Messages = slices.Clone(record.Hash), slices.Clone(record.Messages)
	return record
}

// BeginFile implements store.Store.
func (m *Model) BeginFile(_ context.Context, name c3po.Space, step store.FileStep) (store.FileRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if sp.superseded(step.From, step.Run) {
		return store.FileRecord{}, store.RefuseSuperseded(step.From)
	}
	if f := sp.files[step.ID]; f != nil {
		f.look = sp.lookAt(f.record.Complete)
		return f.told(), nil
	}
	all, own := step.Size+store.FileRowBytes, step.Size+store.FileRowBytes
	for from, bytes := range sp.heldFiles() {
		all += bytes
		if from == step.From {
			own += bytes
		}
	}
	most := int64(sp.limits.SpaceFileBytes)
	if all > most {
		return store.FileRecord{}, store.RefuseFilesFull(store.FilesFillSpace)
	}
	if own*store.FileShare > most {
		return store.FileRecord{}, store.RefuseFilesFull(store.FilesFillShare)
	}
	f := &file{look: sp.lookAt(step.Complete), chunks: map[int64][]byte{}}
	f.record = store.FileRecord{Attachment: step.Attachment, From: step.From, Complete: step.Complete}
	sp.files[step.ID] = f
	return f.told(), nil
}

// AppendFile implements store.Store.
func (m *Model) AppendFile(_ context.Context, name c3po.Space, step store.ChunkStep) (store.FileRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	f := sp.files[step.ID]
	if f == nil || f.record.From != step.From {
		return store.FileRecord{}, store.RefuseNoFile(step.ID)
	}
	ends := step.Offset + int64(len(step.Data))
	if f.record.Complete || f.record.Offset != step.Offset || ends > f.record.Size {
		return f.told(), nil
	}
	f.chunks[step.Offset/c3po.FileChunkBytes] = slices.Clone(step.Data)
	f.record.Offset, f.record.Hash, f.record.Complete = ends, slices.Clone(step.Hash), step.Complete
	if step.Complete {
		f.record.Hash = nil
	}
	f.look = sp.lookAt(step.Complete)
	return f.told(), nil
}

// lookAt is when a file that something was just done with is looked at.
func (sp *space) lookAt(complete bool) int64 {
	if complete {
		return sp.books.Lived + seconds(sp.limits.FileLife)
	}
	return sp.books.Lived + seconds(min(sp.limits.FileLife, c3po.UploadLife))
}

// heldFiles are the bytes of files by their sender.
func (sp *space) heldFiles() map[c3po.AgentID]int64 {
	held := map[c3po.AgentID]int64{}
	for _, f := range sp.files {
		held[f.record.From] += f.record.Size + store.FileRowBytes
	}
	return held
}

// DropFile implements store.Store.
func (m *Model) DropFile(_ context.Context, name c3po.Space, id c3po.FileID, force bool) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	if f := sp.files[id]; f != nil {
		if force {
			f.record.Messages = nil
		}
		return sp.trimFile(id, f), nil
	}
	return true, nil
}

// TrimFiles implements store.Store.
func (m *Model) TrimFiles(_ context.Context, name c3po.Space) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.space(name).trimFiles()
	return nil
}

// Files implements store.Store.
func (m *Model) Files(_ context.Context, name c3po.Space, skip, limit int) ([]store.FileRecord, store.FileBook, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	var all []store.FileRecord
	for _, f := range sp.files {
		record := f.told()
		record.Looked = f.look
		all = append(all, record)
	}
	slices.SortFunc(all, func(a, b store.FileRecord) int {
		return cmp.Or(cmp.Compare(a.Looked, b.Looked), cmp.Compare(a.ID, b.ID))
	})
	all = all[min(skip, len(all)):]
	return all[:min(limit, len(all))], store.FileBook{Lived: sp.books.Lived, Held: sp.heldFiles()}, nil
}

// File implements store.Store.
func (m *Model) File(_ context.Context, name c3po.Space, id c3po.FileID) (*store.FileRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.space(name).files[id]
	if f == nil {
		return nil, nil
	}
	record := f.told()
	return &record, nil
}

// FileChunk implements store.Store.
func (m *Model) FileChunk(_ context.Context, name c3po.Space, id c3po.FileID, number int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.space(name).files[id]; f != nil && f.chunks[number] != nil {
		return slices.Clone(f.chunks[number]), nil
	}
	return nil, store.RefuseFileDamaged(id)
}

// attachable checks that the files of a draft are its sender's, and complete.
func (sp *space) attachable(d store.Draft) error {
	for _, a := range d.Attachments {
		f := sp.files[a.ID]
		if f == nil || !f.record.Complete || f.record.From != d.From || len(f.record.Messages) >= store.MaxFileHolders {
			return store.RefuseNoFile(a.ID)
		}
	}
	return nil
}

func (sp *space) attach(msg *message) {
	for _, a := range msg.view.Attachments {
		if f := sp.files[a.ID]; f != nil && !slices.Contains(f.record.Messages, msg.view.ID) {
			f.record.Messages = append(f.record.Messages, msg.view.ID)
		}
	}
}

// trimFiles forgets files whose messages are gone, or that never had one.
func (sp *space) trimFiles() {
	for id, f := range sp.files {
		if f.look <= sp.books.Lived {
			sp.trimFile(id, f)
		}
	}
}

// trimFile forgets a file that no message carries any more.
func (sp *space) trimFile(id c3po.FileID, f *file) bool {
	f.record.Messages = slices.DeleteFunc(f.record.Messages, func(id c3po.MessageID) bool {
		msg := sp.lookup(id)
		return msg == nil || !msg.facts.Cancelled.IsZero()
	})
	if len(f.record.Messages) == 0 {
		delete(sp.files, id)
		return true
	}
	f.look = sp.lookAt(true)
	return false
}
