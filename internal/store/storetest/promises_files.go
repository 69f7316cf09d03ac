package storetest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func fileStep(from c3po.AgentID, name string, size int64) store.FileStep {
	in := store.FileStep{From: from}
	in.Attachment = c3po.Attachment{ID: c3po.NewFileID(from, name, "text/plain", size, "sum"), Name: name, Size: size, Type: "text/plain", SHA256: "sum"}
	return in
}

func fileBytes(size int64) []byte {
	return bytes.Repeat([]byte("0123456789abcdef\x00\xff\n"), int(size/19+1))[:size]
}

// upload stores a whole file.
func (w *testStore) upload(from c3po.AgentID, name string, size int64) c3po.Attachment {
	w.Helper()
	step := fileStep(from, name, size)
	record, err := w.store.BeginFile(w.ctx, w.space, step)
	w.must(err)
	for all := fileBytes(size); record.Offset < size; {
		end := min(record.Offset+c3po.FileChunkBytes, size)
		record, err = w.store.AppendFile(w.ctx, w.space, store.ChunkStep{
			ID: step.ID, From: from, Offset: record.Offset, Data: all[record.Offset:end], Hash: []byte("state"), Complete: end == size,
		})
		w.must(err)
	}
	if !record.Complete || record.Hash != nil {
		w.Fatalf("after its last byte the file is %+v", record)
	}
	return step.Attachment
}

func (w *testStore) sendFiles(from, to c3po.AgentID, text string, files ...c3po.Attachment) c3po.MessageID {
	w.Helper()
	step := letter(from, to, text)
	step.Attachments = files
	return w.sendStep(step).Message.ID
}

func (w *testStore) file(id c3po.FileID) *store.FileRecord {
	w.Helper()
	file, err := w.store.File(w.ctx, w.space, id)
	w.must(err)
	return file
}

// content reads a file back, chunk by chunk.
func (w *testStore) content(a c3po.Attachment) (all []byte) {
	w.Helper()
	for n := int64(0); n*c3po.FileChunkBytes < a.Size; n++ {
		chunk, err := w.store.FileChunk(w.ctx, w.space, a.ID, n)
		w.must(err)
		all = append(all, chunk...)
	}
	return all
}

func (w *testStore) holds(when string, id c3po.FileID, want bool) {
	w.Helper()
	if got := w.file(id) != nil; got != want {
		w.Fatalf("%s the file is there: %v, want %v", when, got, want)
	}
}

// drops drops a file, and holds what became of it to what is said.
func (w *testStore) drops(when string, id c3po.FileID, force, want bool) {
	w.Helper()
	dropped, err := w.store.DropFile(w.ctx, w.space, id, force)
	w.must(err)
	same(w, when+", it says that it is dropped", dropped, want)
	w.holds(when+",", id, !want)
}

// sweepFiles lets d pass, and trims until nothing but files is left to forget, which goes last.
func (w *testStore) sweepFiles(d time.Duration) {
	w.Helper()
	w.live(d)
	for w.trim(100) > 0 {
	}
}

func filePromises() []promise {
	return []promise{
		{"a file is read back as it was stored, and its message lists it", nil, func(w *testStore) {
			w.enter(alice, bob)
			const size = c3po.FileChunkBytes + 100
			file := w.upload(alice, "big.log", size)
			id := w.sendFiles(alice, bob, "see the log", file)
			same(w, "attachments", w.entry(id).Message.Attachments, []c3po.Attachment{file})
			if !bytes.Equal(w.content(file), fileBytes(size)) {
				w.Fatal("its bytes have changed")
			}
			same(w, "its messages", w.file(file.ID).Messages, []c3po.MessageID{id})
		}},
		{"an upload continues where it stopped, and a repeated part changes nothing", nil, func(w *testStore) {
			w.enter(alice, bob)
			const size = 2*c3po.FileChunkBytes + 5
			step, all := fileStep(alice, "a", size), fileBytes(size)
			begin := func() store.FileRecord {
				record, err := w.store.BeginFile(w.ctx, w.space, step)
				w.must(err)
				return record
			}
			part := func(offset, end int64, hash string) store.FileRecord {
				record, err := w.store.AppendFile(w.ctx, w.space, store.ChunkStep{
					ID: step.ID, From: alice, Offset: offset, Data: all[offset:end], Hash: []byte(hash), Complete: end == size,
				})
				w.must(err)
				return record
			}
			same(w, "new", begin().Offset, int64(0))
			part(0, c3po.FileChunkBytes, "one")
			same(w, "begun again", begin().Offset, int64(c3po.FileChunkBytes))
			same(w, "the hash to go on from", string(begin().Hash), "one")
			same(w, "a repeat", string(part(0, c3po.FileChunkBytes, "other").Hash), "one")
			same(w, "a gap", part(2*c3po.FileChunkBytes, size, "x").Offset, int64(c3po.FileChunkBytes))
			part(c3po.FileChunkBytes, 2*c3po.FileChunkBytes, "two")
			same(w, "complete", part(2*c3po.FileChunkBytes, size, "three").Complete, true)
			same(w, "for good", part(0, 5, "four").Offset, int64(size))
			if !bytes.Equal(w.content(step.Attachment), all) {
				w.Fatal("its bytes have changed")
			}
		}},
		{"only a complete file of the sender's own travels", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			file := w.upload(alice, "a", 10)
			half, err := w.store.BeginFile(w.ctx, w.space, fileStep(bob, "half", 10))
			w.must(err)
			for from, attached := range map[c3po.AgentID]c3po.Attachment{carol: file, bob: half.Attachment, alice: {ID: "none"}} {
				w.unchanged(func() {
					step := letter(from, carol, "look")
					step.Attachments = []c3po.Attachment{attached}
					_, err := w.store.Send(w.ctx, w.space, step)
					w.refused(err, c3po.InvalidRequest)
				})
			}
			_, err = w.store.AppendFile(w.ctx, w.space, store.ChunkStep{ID: half.ID, From: carol, Data: []byte("mine"), Hash: []byte("h")})
			w.refused(err, c3po.InvalidRequest)
		}},
		{"another space knows nothing of a file", nil, func(w *testStore) {
			w.enter(alice, bob)
			file := w.upload(alice, "a", 10)
			there, err := w.store.File(w.ctx, w.other, file.ID)
			w.must(err)
			same(w, "there", there == nil, true)
			_, err = w.store.FileChunk(w.ctx, w.other, file.ID, 0)
			w.refused(err, c3po.Internal)
		}},
		{"a file without a message is forgotten after its time", nil, func(w *testStore) {
			w.enter(alice, bob)
			file := w.upload(alice, "a", 10)
			w.sweepFiles(w.limits.FileLife - time.Minute)
			w.holds("before its time", file.ID, true)
			w.sweepFiles(time.Minute)
			w.holds("after its time", file.ID, false)
			_, err := w.store.FileChunk(w.ctx, w.space, file.ID, 0)
			w.refused(err, c3po.Internal)
		}},
		{"a file lives as long as the last message that carries it", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			file := w.upload(alice, "a", 10)
			first, second := w.sendFiles(alice, bob, "one", file), w.sendFiles(alice, carol, "two", file)
			w.ack(bob, first)
			w.sweepFiles(w.limits.EndedLife)
			same(w, "messages", w.known(first, second), []bool{false, true})
			w.holds("with one message", file.ID, true)
			same(w, "its messages", w.file(file.ID).Messages, []c3po.MessageID{second})
			w.ack(carol, second)
			w.sweepFiles(w.limits.EndedLife)
			w.sweepFiles(w.limits.FileLife)
			w.holds("without any", file.ID, false)
		}},
		{"a file that both a note to oneself and the word that hands it over carry is held by all three", nil, func(w *testStore) {
			w.enter(alice, bob)
			file := w.upload(alice, "notes.txt", 100)
			question := w.sendFiles(alice, alice, "what was left to do?", file)
			over := answer(alice, question, "bob does the rest")
			over.Status, over.HandedTo, over.Attachments = c3po.ReplyHandedOver, bob, []c3po.Attachment{file}
			stored, err := w.store.Reply(w.ctx, w.space, over)
			w.must(err)
			same(w, "its messages", w.file(file.ID).Messages, []c3po.MessageID{question, stored.Message.ID, stored.MovedTo})
		}},
		{"a file goes on with a message that is handed over", nil, func(w *testStore) {
			w.enter(alice, bob, carol)
			file := w.upload(alice, "a", 10)
			asked := w.sendFiles(alice, bob, "look", file)
			over := answer(bob, asked, "carol knows")
			over.Status, over.HandedTo = c3po.ReplyHandedOver, carol
			stored, err := w.store.Reply(w.ctx, w.space, over)
			w.must(err)
			same(w, "it has the file", w.entry(stored.MovedTo).Message.Attachments, []c3po.Attachment{file})
			w.sweepFiles(w.limits.EndedLife)
			same(w, "messages", w.known(asked, stored.MovedTo), []bool{false, true})
			w.holds("with whom it was handed to", file.ID, true)
		}},
		{"a reply can carry a file", nil, func(w *testStore) {
			w.enter(alice, bob)
			asked := w.send(alice, bob, "send me the patch")
			step := answer(bob, asked, "here")
			step.Attachments = []c3po.Attachment{w.upload(bob, "fix.diff", 100)}
			stored, err := w.store.Reply(w.ctx, w.space, step)
			w.must(err)
			same(w, "attachments", w.entry(stored.Message.ID).Message.Attachments, step.Attachments)
			same(w, "its messages", w.file(step.Attachments[0].ID).Messages, []c3po.MessageID{stored.Message.ID})
			other := answer(bob, w.send(alice, bob, "and that"), "here too")
			other.Attachments = []c3po.Attachment{{ID: "none"}}
			_, err = w.store.Reply(w.ctx, w.space, other)
			w.refused(err, c3po.InvalidRequest)
		}},
		{"files have a budget of their own, of which one agent has half", func(l *c3po.Limits) { l.SpaceFileBytes = 10_000 }, func(w *testStore) {
			const row = store.FileRowBytes
			w.enter(alice, bob, carol)
			file := w.upload(alice, "a", 5000-row)
			_, err := w.store.BeginFile(w.ctx, w.space, fileStep(alice, "b", 0))
			w.refused(err, c3po.StoreFull)
			w.upload(bob, "b", 3500-row)
			_, err = w.store.BeginFile(w.ctx, w.space, fileStep(carol, "c", 1501-row))
			w.refused(err, c3po.StoreFull)
			w.send(carol, bob, "mail has a place all the same")
			w.upload(carol, "c", 1500-row)
			_, book, err := w.store.Files(w.ctx, w.space, 0, 10)
			w.must(err)
			same(w, "held", book.Held, map[c3po.AgentID]int64{alice: 5000, bob: 3500, carol: 1500})
			w.drops("the first", file.ID, false, true)
			w.upload(alice, "d", 5000-row)
		}},
		{"an upload that stops is soon forgotten, and so is what it had announced", func(l *c3po.Limits) { l.SpaceFileBytes = 10_000 }, func(w *testStore) {
			w.enter(alice, bob)
			step := fileStep(alice, "a", 3000)
			_, err := w.store.BeginFile(w.ctx, w.space, step)
			w.must(err)
			w.live(c3po.UploadLife - time.Minute)
			w.must(w.store.TrimFiles(w.ctx, w.space))
			_, err = w.store.AppendFile(w.ctx, w.space, store.ChunkStep{ID: step.ID, From: alice, Data: fileBytes(10), Hash: []byte("one")})
			w.must(err)
			w.live(c3po.UploadLife - time.Minute)
			w.must(w.store.TrimFiles(w.ctx, w.space))
			w.holds("that goes on", step.ID, true)
			_, err = w.store.BeginFile(w.ctx, w.space, fileStep(alice, "b", 1000))
			w.refused(err, c3po.StoreFull)
			w.live(time.Minute)
			w.must(w.store.TrimFiles(w.ctx, w.space))
			w.holds("that has stopped", step.ID, false)
			_, err = w.store.BeginFile(w.ctx, w.space, fileStep(alice, "b", 1000))
			w.must(err)
		}},
		{"files are listed with their senders, first those that are looked at first", nil, func(w *testStore) {
			w.enter(alice, bob)
			first := w.upload(alice, "a", 10)
			w.live(time.Minute)
			second := w.upload(bob, "b", 20)
			w.sendFiles(bob, alice, "take it", second)
			all, book, err := w.store.Files(w.ctx, w.space, 0, 10)
			w.must(err)
			if len(all) != 2 || all[0].ID != first.ID || all[0].From != alice || len(all[1].Messages) != 1 {
				w.Fatalf("the files are %+v", all)
			}
			same(w, "is looked at", all[0].Looked-book.Lived, int64((w.limits.FileLife-time.Minute)/time.Second))
			page, _, err := w.store.Files(w.ctx, w.space, 1, 1)
			w.must(err)
			same(w, "the next page", page, all[1:])
		}},
		{"a file of a message that was cancelled is dropped", nil, func(w *testStore) {
			w.enter(alice, bob)
			file := w.upload(alice, "a", 10)
			id := w.sendFiles(alice, bob, "one", file)
			w.cancel(alice, id)
			w.drops("cancelled", file.ID, false, true)
		}},
		{"a file that a message carries is not dropped", nil, func(w *testStore) {
			w.enter(alice, bob)
			file := w.upload(alice, "a", 10)
			w.sendFiles(alice, bob, "one", file)
			w.drops("carried", file.ID, false, false)
			w.drops("by force", file.ID, true, true)
		}},
		{"one file travels with so many messages", func(l *c3po.Limits) { l.InboxMessages, l.InboxBytes = 1000, 1<<20 }, func(w *testStore) {
			w.enter(alice, bob)
			file := w.upload(alice, "a", 1)
			for n := range store.MaxFileHolders {
				w.sendFiles(alice, bob, fmt.Sprint(n), file)
			}
			step := letter(alice, bob, "one too many")
			step.Attachments = []c3po.Attachment{file}
			_, err := w.store.Send(w.ctx, w.space, step)
			w.refused(err, c3po.InvalidRequest)
		}},
	}
}
