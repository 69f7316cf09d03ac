package rest

import (
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// file answers with a file, or with the part of it that was asked for. A browser saves it
// and never shows it: what others have sent runs nowhere in our name.
func (s *server) file(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
	if err := operationCalled("file_read").Check(caller.Role); err != nil {
		s.refuse(w, r, err)
		return
	}
	actor := s.hub.As(caller)
	query := r.URL.Query()
	in := c3po.FileQuery{MessageID: c3po.MessageID(query.Get("message_id")), File: c3po.FileID(query.Get("file"))}
	first, err := c3po.Rejoining(r.Context(), actor, func() (c3po.FilePart, error) { return actor.FileRead(r.Context(), in) })
	introduce(w.Header(), actor)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	h := w.Header()
	h["X-Content-Type-Options"], h["Cache-Control"] = notGuessed, notKept
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": sanitise.FileName(first.Name)}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("ETag", `"`+first.SHA256+`"`)
	http.ServeContent(w, r, "", time.Time{}, &fileReader{size: first.Size, part: first.Data, read: func(offset int64) ([]byte, error) {
		in.Offset = offset
		part, err := actor.FileRead(r.Context(), in)
		return part.Data, err
	}})
}

// A fileReader reads a file chunk by chunk, and holds one of them. Each is asked for anew:
// who may no longer read the message gets no more of it.
type fileReader struct {
	read     func(offset int64) ([]byte, error)
	size, at int64
	part     []byte
	begins   int64 // the offset of part
}

func (f *fileReader) Read(into []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if f.at < f.begins || f.at >= f.begins+int64(len(f.part)) {
		part, err := f.read(f.at)
		if err != nil {
			return 0, err
		}
		if len(part) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		f.part, f.begins = part, f.at
	}
	n := copy(into, f.part[f.at-f.begins:])
	f.at += int64(n)
	return n, nil
}

// Seek goes to the part that was asked for.
func (f *fileReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	}
	f.at = max(offset, 0)
	return f.at, nil
}
