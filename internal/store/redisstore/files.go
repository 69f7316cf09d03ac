package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/rueidis"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// filesPage is how many files one sweep looks at in one go.
const filesPage = 200

// A fileRow is what is kept of a file beside its bytes.
type fileRow struct {
	From     c3po.AgentID `json:"f"`
	Name     string       `json:"n"`
	Type     string       `json:"y"`
	Size     int64        `json:"z"`
	SHA256   string       `json:"c"`
	Offset   int64        `json:"o"`
	Hash     []byte       `json:"s,omitempty"`
	Complete int          `json:"d,omitempty"`
	Messages string       `json:"h"`
}

func (r fileRow) record(id c3po.FileID) store.FileRecord {
	record := store.FileRecord{
		Attachment: c3po.Attachment{ID: id, Name: r.Name, Size: r.Size, Type: r.Type, SHA256: r.SHA256},
		From:       r.From, Offset: r.Offset, Hash: r.Hash, Complete: r.Complete == 1,
	}
	for _, message := range strings.Fields(r.Messages) {
		record.Messages = append(record.Messages, c3po.MessageID(message))
	}
	return record
}

func readFile(id c3po.FileID, raw string) (store.FileRecord, error) {
	var row fileRow
	if err := json.Unmarshal([]byte(raw), &row); err != nil {
		return store.FileRecord{}, store.RefuseFileDamaged(id)
	}
	return row.record(id), nil
}

// BeginFile implements store.Store.
func (s *Store) BeginFile(ctx context.Context, space c3po.Space, step store.FileStep) (store.FileRecord, error) {
	if err := s.enter(ctx, space); err != nil {
		return store.FileRecord{}, err
	}
	row := fileRow{From: step.From, Name: step.Name, Type: step.Type, Size: step.Size, SHA256: step.SHA256}
	if step.Complete {
		row.Complete = 1
	}
	text, err := json.Marshal(row)
	if err != nil {
		return store.FileRecord{}, fmt.Errorf("encode file: %w", err)
	}
	k := keysOf(space)
	answer, err := s.run(ctx, "file_begin", k, with{
		"sender": k.agent(step.From), "chunks": k.file(step.ID), "from": step.From, "run": step.Run, "file": step.ID, "row": string(text), "size": step.Size,
	})
	if err != nil {
		return store.FileRecord{}, err
	}
	return readFileAnswer(answer, step.ID, step.From)
}

// AppendFile implements store.Store.
func (s *Store) AppendFile(ctx context.Context, space c3po.Space, step store.ChunkStep) (store.FileRecord, error) {
	// As it stands in the row of Go: base64.
	state, err := json.Marshal(step.Hash)
	if err != nil {
		return store.FileRecord{}, fmt.Errorf("encode hash: %w", err)
	}
	k := keysOf(space)
	answer, err := s.run(ctx, "file_append", k, with{
		"chunks": k.file(step.ID), "from": step.From, "file": step.ID, "offset": step.Offset, "chunk": itoa(step.Offset / c3po.FileChunkBytes),
		"bytes": len(step.Data), "text": checksum(step.Data) + string(step.Data), "state": strings.Trim(string(state), `"`), "complete": step.Complete,
	})
	if err != nil {
		return store.FileRecord{}, err
	}
	return readFileAnswer(answer, step.ID, step.From)
}

func readFileAnswer(answer []rueidis.RedisMessage, id c3po.FileID, from c3po.AgentID) (store.FileRecord, error) {
	switch word(answer[0]) {
	case "superseded":
		return store.FileRecord{}, store.RefuseSuperseded(from)
	case "unknown":
		return store.FileRecord{}, store.RefuseNoFile(id)
	case "space":
		return store.FileRecord{}, store.RefuseFilesFull(store.FilesFillSpace)
	case "share":
		return store.FileRecord{}, store.RefuseFilesFull(store.FilesFillShare)
	case "memory":
		return store.FileRecord{}, store.RefuseFilesFull(store.FilesFillMemory)
	}
	return readFile(id, word(answer[1]))
}

// DropFile implements store.Store.
func (s *Store) DropFile(ctx context.Context, space c3po.Space, id c3po.FileID, force bool) (bool, error) {
	gone, err := s.messagesGone(ctx, space, id, force)
	if err != nil {
		return false, err
	}
	return s.trimFile(ctx, space, id, gone, true)
}

func (s *Store) trimFile(ctx context.Context, space c3po.Space, id c3po.FileID, gone []string, atOnce bool) (bool, error) {
	k := keysOf(space)
	answer, err := s.run(ctx, "file_trim", k, with{"chunks": k.file(id), "file": id, "at_once": atOnce, "gone": gone})
	return err == nil && word(answer[0]) == "forgotten", err
}

// TrimFiles implements store.Store.
func (s *Store) TrimFiles(ctx context.Context, space c3po.Space) error {
	books, err := s.Counters(ctx, space)
	if err != nil {
		return err
	}
	return s.trimFiles(ctx, space, books.Lived)
}

// Files implements store.Store.
func (s *Store) Files(ctx context.Context, space c3po.Space, skip, limit int) ([]store.FileRecord, store.FileBook, error) {
	k := keysOf(space)
	books, err := s.Counters(ctx, space)
	book := store.FileBook{Lived: books.Lived}
	if err != nil {
		return nil, book, err
	}
	if book.Held, err = s.heldFiles(ctx, k); err != nil {
		return nil, book, err
	}
	due, err := s.scores(ctx, s.commands.B().Zrange().Key(k.filesDue()).Min(itoa(skip)).Max(itoa(skip+limit-1)).Withscores().Build())
	if err != nil || len(due) == 0 {
		return nil, book, err
	}
	ids := make([]string, len(due))
	for i, row := range due {
		ids[i] = row.Member
	}
	rows, err := s.strings(ctx, s.commands.B().Hmget().Key(k.files()).Field(ids...).Build())
	if err != nil {
		return nil, book, err
	}
	var files []store.FileRecord
	for i, raw := range rows {
		if record, err := readFile(c3po.FileID(ids[i]), raw); err == nil {
			record.Looked = int64(due[i].Score)
			files = append(files, record)
		}
	}
	return files, book, nil
}

// heldFiles are the bytes of files by their sender.
func (s *Store) heldFiles(ctx context.Context, k keys) (map[c3po.AgentID]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	fields, err := s.commands.Do(ctx, s.commands.B().Hgetall().Key(k.filebox()).Build()).AsStrMap()
	if err != nil {
		return nil, s.failure(ctx, "read files", err)
	}
	held := map[c3po.AgentID]int64{}
	for field, bytes := range fields {
		if from, ok := strings.CutPrefix(field, "b:"); ok {
			held[c3po.AgentID(from)] = atoi(bytes)
		}
	}
	return held, nil
}

// File implements store.Store.
func (s *Store) File(ctx context.Context, space c3po.Space, id c3po.FileID) (*store.FileRecord, error) {
	rows, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).files()).Field(string(id)).Build())
	if err != nil || rows[0] == "" {
		return nil, err
	}
	record, err := readFile(id, rows[0])
	return &record, err
}

// FileChunk implements store.Store.
func (s *Store) FileChunk(ctx context.Context, space c3po.Space, id c3po.FileID, number int64) ([]byte, error) {
	rows, err := s.strings(ctx, s.commands.B().Hmget().Key(keysOf(space).file(id)).Field(itoa(number)).Build())
	if err != nil {
		return nil, err
	}
	const sum = bodyPrefix - 1
	if len(rows[0]) < sum || checksum([]byte(rows[0][sum:])) != rows[0][:sum] {
		return nil, store.RefuseFileDamaged(id)
	}
	return []byte(rows[0][sum:]), nil
}

// trimFiles looks at the files whose time has come: whether a message carries them still.
func (s *Store) trimFiles(ctx context.Context, space c3po.Space, lived int64) error {
	for {
		due, err := s.strings(ctx, s.commands.B().Zrangebyscore().Key(keysOf(space).filesDue()).Min("-inf").Max(itoa(lived)).Limit(0, filesPage).Build())
		if err != nil || len(due) == 0 {
			return err
		}
		for _, row := range due {
			id := c3po.FileID(row)
			gone, err := s.messagesGone(ctx, space, id, false)
			if err != nil {
				return err
			}
			if _, err := s.trimFile(ctx, space, id, gone, false); err != nil {
				return err
			}
		}
	}
}

// messagesGone are those of the messages that carried a file that were forgotten or
// cancelled, or all of them.
func (s *Store) messagesGone(ctx context.Context, space c3po.Space, id c3po.FileID, all bool) (gone []string, err error) {
	file, err := s.File(ctx, space, id)
	if file == nil || errors.Is(err, c3po.Internal) {
		return nil, nil // file_trim forgets a row that it cannot read
	}
	if err != nil {
		return nil, err
	}
	for _, message := range file.Messages {
		if all {
			gone = append(gone, string(message))
			continue
		}
		entry, err := s.Message(ctx, space, message)
		if err != nil {
			return nil, err
		}
		if entry == nil || !entry.Facts.Cancelled.IsZero() {
			gone = append(gone, string(message))
		}
	}
	return gone, nil
}

// handedFiles are those that a message carries that is handed over. What a message carries
// never changes.
func (s *Store) handedFiles(ctx context.Context, space c3po.Space, step store.ReplyStep) ([]c3po.Attachment, error) {
	if step.HandedTo == "" {
		return nil, nil
	}
	entry, err := s.Message(ctx, space, step.Answers)
	if entry == nil || err != nil {
		return nil, err
	}
	return entry.Message.Attachments, nil
}

func fileIDs(attachments []c3po.Attachment) []string {
	ids := make([]string, len(attachments))
	for i, file := range attachments {
		ids[i] = string(file.ID)
	}
	return ids
}
