package storetest

import (
	"context"
	"slices"

	"github.com/c3po-dev/c3po"
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
	look := sp.books.Lived + seconds(sp.limits.FileLife)
	if f := sp.files[step.ID]; f != nil {
		f.look = look
		return f.told(), nil
	}
	all, own := step.Size, step.Size
	for _, f := range sp.files {
		all += f.record.Size
		if f.record.From == step.From {
			own += f.record.Size
		}
	}
	most := int64(sp.limits.SpaceFileBytes)
	if all > most {
		return store.FileRecord{}, store.RefuseFilesFull(store.FilesFillSpace)
	}
	if own*store.FileShare > most {
		return store.FileRecord{}, store.RefuseFilesFull(store.FilesFillShare)
	}
	f := &file{look: look, chunks: map[int64][]byte{}}
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
	f.look = sp.books.Lived + seconds(sp.limits.FileLife)
	return f.told(), nil
}

// DropFile implements store.Store.
func (m *Model) DropFile(_ context.Context, name c3po.Space, id c3po.FileID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sp := m.space(name)
	f := sp.files[id]
	switch {
	case f == nil:
	case len(f.record.Messages) == 0:
		delete(sp.files, id)
	default:
		f.look = sp.books.Lived + seconds(sp.limits.FileLife)
	}
	return nil
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
		if f.look > sp.books.Lived {
			continue
		}
		f.record.Messages = slices.DeleteFunc(f.record.Messages, func(id c3po.MessageID) bool { return sp.lookup(id) == nil })
		if len(f.record.Messages) == 0 {
			delete(sp.files, id)
			continue
		}
		f.look = sp.books.Lived + seconds(sp.limits.FileLife)
	}
}
