package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A shelf is a coordinator that keeps one file.
type shelf struct {
	most    int64 // bytes that a file may have
	data    []byte
	begun   c3po.FileInput
	calls   []string
	refuses bool
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/api/op/")
	s.calls = append(s.calls, name)
	read := func(in any) {
		if err := json.NewDecoder(r.Body).Decode(in); err != nil {
			panic(err)
		}
	}
	state := func() c3po.FileState {
		done := int64(len(s.data)) == s.begun.Size
		return c3po.FileState{Attachment: c3po.Attachment{ID: "f1", Name: s.begun.Name, Size: s.begun.Size, SHA256: s.begun.SHA256}, Offset: int64(len(s.data)), Complete: done}
	}
	switch name {
	case "server_info":
		answers(c3po.ServerInfo{FileBytes: s.most})(w, r)
	case "file_begin":
		read(&s.begun)
		answers(state())(w, r)
	case "file_append":
		var in c3po.FileChunkInput
		read(&in)
		if s.refuses || in.ID != "f1" || in.Offset != int64(len(s.data)) {
			refuses(c3po.Errorf(c3po.Forbidden, "no"))(w, r)
			return
		}
		s.data = append(s.data, in.Data...)
		answers(state())(w, r)
	case "file_read":
		var in c3po.FileQuery
		read(&in)
		answers(c3po.FilePart{Data: s.data[in.Offset:min(in.Offset+c3po.FileChunkBytes, int64(len(s.data)))]})(w, r)
	}
}

// A shrunken reader has fewer bytes the second time.
type shrunken struct{ *bytes.Reader }

func (s shrunken) Read(to []byte) (int, error) {
	n, err := s.Reader.Read(to)
	if err == io.EOF {
		s.Reader.Reset(nil)
	}
	return n, err
}

type unreadable struct{ *bytes.Reader }

func (unreadable) Read([]byte) (int, error) { return 0, errors.New("the disk is broken") }

func TestAFileIsSentFromWhereAnEarlierTryEnded(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789"), 60_000)
	size := int64(len(data))
	for name, test := range map[string]struct {
		stored, most int64
		refuses      bool
		content      io.ReadSeeker
		parts        int
		want         error
		says         string
	}{
		"the first try":                       {content: bytes.NewReader(data), parts: 3, most: size},
		"an older coordinator names no limit": {content: bytes.NewReader(data), parts: 3},
		"after a part":                        {content: bytes.NewReader(data), stored: c3po.FileChunkBytes, parts: 2, most: size},
		"after all of it":                     {content: bytes.NewReader(data), stored: size, parts: 0, most: size},
		"more than is allowed":                {content: bytes.NewReader(data), most: size - 1, want: c3po.InvalidRequest, says: "at most 599999"},
		"a file that shrinks meanwhile":       {content: shrunken{bytes.NewReader(data)}, parts: 0, want: c3po.InvalidRequest, says: "has changed"},
		"a file that nobody can read":         {content: unreadable{bytes.NewReader(data)}, says: "the disk is broken"},
		"a coordinator that refuses a part":   {content: bytes.NewReader(data), refuses: true, parts: 1, want: c3po.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{most: test.most, refuses: test.refuses, data: append([]byte{}, data[:test.stored]...)}
			state, err := newScript(t, s.serve).client(t, client.Config{}).Upload(t.Context(), "a.log", "text/plain", test.content)
			if fails := test.want != nil || test.says != ""; (err != nil) != fails || fails && test.want != nil && !errors.Is(err, test.want) || fails && !strings.Contains(err.Error(), test.says) {
				t.Fatalf("it ends with %v", err)
			}
			if n := strings.Count(strings.Join(s.calls, " "), "file_append"); n != test.parts {
				t.Errorf("%d parts were sent, want %d", n, test.parts)
			}
			if err != nil {
				return
			}
			want := c3po.FileInput{Name: "a.log", Type: "text/plain", Size: size, SHA256: hashOf(data)}
			if s.begun != want || !bytes.Equal(s.data, data) || !state.Complete || state.ID != "f1" {
				t.Errorf("it was announced as %+v, %d bytes are stored, and it is %+v", s.begun, len(s.data), state)
			}
		})
	}
}

func TestAFileCountsOnlyWithTheHashThatItsMessageNames(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789"), 60_000)
	whole := c3po.Attachment{ID: "f1", Name: "a.log", Size: int64(len(data)), SHA256: hashOf(data)}
	for name, test := range map[string]struct {
		kept  []byte
		parts int
		fails bool
	}{
		"all of it":   {data, 3, false},
		"less of it":  {data[:len(data)-1], 4, true},
		"another one": {bytes.ToUpper(append(data[:len(data)-1:len(data)-1], 'x')), 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{data: test.kept}
			var got bytes.Buffer
			err := newScript(t, s.serve).client(t, client.Config{}).Download(t.Context(), "a::b::00000001", whole, &got)
			if (err != nil) != test.fails || test.fails && !strings.Contains(err.Error(), "sha256 differs") || len(s.calls) != test.parts || !test.fails && !bytes.Equal(got.Bytes(), data) {
				t.Errorf("after %d parts and %d bytes it ends with %v", len(s.calls), got.Len(), err)
			}
		})
	}
	gone := newScript(t, refuses(c3po.Errorf(c3po.InvalidRequest, "no such file"))).client(t, client.Config{})
	if err := gone.Download(t.Context(), "a::b::00000001", whole, io.Discard); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("a file that is gone: %v", err)
	}
	full, kept := errors.New("the disk is full"), &shelf{data: data}
	reading := newScript(t, kept.serve).client(t, client.Config{})
	if err := reading.Download(context.Background(), "a::b::00000001", whole, failing{full}); !errors.Is(err, full) || len(kept.calls) != 1 {
		t.Errorf("with a full disk: %v after %d parts", err, len(kept.calls))
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
