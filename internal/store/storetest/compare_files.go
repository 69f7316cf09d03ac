package storetest

import (
	"bytes"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// upload begins a file, goes on with one, or drops one.
func (d *comparison) upload(a *comparedSpace) {
	if len(a.files) == 0 || d.oneIn(3, "a new file") {
		from := d.agent(a, "from")
		name, size := draw(d, "name", []string{"a.txt", "b.diff"}), draw(d, "size", []int64{0, 1, 1000, c3po.FileChunkBytes, c3po.FileChunkBytes + 7})
		in := store.FileStep{From: from, Run: d.run(a, from), Complete: size == 0}
		in.Attachment = c3po.Attachment{ID: c3po.NewFileID(from, name, "", size, "s"), Name: name, Size: size, SHA256: "s"}
		a.files = append(a.files, in)
	}
	in := draw(d, "file", latest(a.files))
	begun, err := both(d, "begin file", func(s store.Store) (store.FileRecord, error) { return s.BeginFile(d.ctx, a.space, in) })
	if err != nil {
		return
	}
	if d.oneIn(8, "drop it") {
		force := d.oneIn(3, "by force")
		_, _ = both(d, "drop file", func(s store.Store) (bool, error) { return s.DropFile(d.ctx, a.space, in.ID, force) })
	}
	offset := draw(d, "offset", []int64{begun.Offset, begun.Offset, begun.Offset, 0, c3po.FileChunkBytes})
	chunk := store.ChunkStep{ID: in.ID, From: in.From, Offset: offset, Hash: []byte{0, 255, byte(offset)}}
	if size := min(in.Size-offset, c3po.FileChunkBytes); size > 0 {
		chunk.Data = bytes.Repeat([]byte{byte(size), 0, 255}, int(size))[:size]
		chunk.Complete = offset+size == in.Size
	}
	if d.oneIn(12, "of another") {
		chunk.From = "nobody"
	}
	_, _ = both(d, "append", func(s store.Store) (store.FileRecord, error) { return s.AppendFile(d.ctx, a.space, chunk) })
}

// someFiles are those a message carries: mostly none, mostly the sender's own.
func (d *comparison) someFiles(a *comparedSpace, from c3po.AgentID) (files []c3po.Attachment) {
	if len(a.files) == 0 || !d.oneIn(3, "with a file") {
		return nil
	}
	for _, in := range a.files {
		if in.From == from && len(files) < 2 {
			files = append(files, in.Attachment)
		}
	}
	if d.oneIn(8, "a file of anybody") {
		files = append(files, draw(d, "attached", a.files).Attachment)
	}
	return files
}

func (d *comparison) compareFiles(a *comparedSpace) {
	if d.oneIn(4, "trim files") {
		d.done("trim files", func(s store.Store) error { return s.TrimFiles(d.ctx, a.space) })
	}
	_, _ = both(d, "files", func(s store.Store) (page filePage, err error) {
		page.Files, page.Book, err = s.Files(d.ctx, a.space, 0, 100)
		return page, err
	})
	for _, in := range a.files {
		file, _ := both(d, "file", func(s store.Store) (*store.FileRecord, error) { return s.File(d.ctx, a.space, in.ID) })
		for n := int64(0); file != nil && n*c3po.FileChunkBytes <= file.Size; n++ {
			_, _ = both(d, "chunk", func(s store.Store) ([]byte, error) { return s.FileChunk(d.ctx, a.space, in.ID, n) })
		}
	}
}

// A filePage is what Files answers.
type filePage struct {
	Files []store.FileRecord
	Book  store.FileBook
}

// files of a space as redisstore keeps them.
func (h holdings) files(sp *space) {
	for id, f := range sp.files {
		h.put("files", string(id))
		h.put("filex", string(id))
		for n := range f.chunks {
			h.put("file:"+string(id), fmt.Sprint(n))
		}
	}
	for from := range sp.heldFiles() {
		h.put("filebox", "b", "b:"+string(from))
	}
}
