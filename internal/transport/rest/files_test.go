package rest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// sendsFile stores a file of bob's mail, sent by ann.
func sendsFile(t *testing.T, s *testServer, space, name string, data []byte) (c3po.MessageID, c3po.FileID) {
	t.Helper()
	sum := sha256.Sum256(data)
	var file c3po.FileState
	s.op(t, space, "bob", "whoami", c3po.None{}, nil)
	s.op(t, space, "ann", "file_begin", c3po.FileInput{Name: name, Size: int64(len(data)), Type: "text/html", SHA256: hex.EncodeToString(sum[:])}, &file)
	for !file.Complete {
		end := min(file.Offset+c3po.FileChunkBytes, int64(len(data)))
		s.op(t, space, "ann", "file_append", c3po.FileChunkInput{ID: file.ID, Offset: file.Offset, Data: data[file.Offset:end]}, &file)
	}
	var sent c3po.Receipt
	s.op(t, space, "ann", "send_message", c3po.SendInput{Target: "bob", Message: "see", Attach: []c3po.FileID{file.ID}}, &sent)
	return sent.ID, file.ID
}

func TestAFileIsDownloadedWholeOrInPartAndNeverShown(t *testing.T) {
	t.Parallel()
	s, space := onRedis(t, redistest.Shared(t)), newSpace()
	data := bytes.Repeat([]byte("<script>alert(1)</script>\n"), 3*c3po.FileChunkBytes/26)
	message, file := sendsFile(t, s, space, "a \"b\" ä.html", data)
	path := "/api/file?" + url.Values{"message_id": {string(message)}, "file": {string(file)}}.Encode()
	get := func(as, ranges string) answer {
		headers := map[string]string{}
		if ranges != "" {
			headers["Range"] = ranges
		}
		return s.ask(t, question{path: path, as: as, space: space, header: headers})
	}
	whole := get("bob", "")
	if whole.status != http.StatusOK || !bytes.Equal(whole.body, data) {
		t.Fatalf("the whole file: %d, %d bytes of %d", whole.status, len(whole.body), len(data))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Accept-Ranges": "bytes", "Cache-Control": "no-store",
		"Content-Security-Policy": "sandbox; default-src 'none'",
	} {
		if got := whole.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := whole.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename") || strings.ContainsAny(got, "\r\n<") {
		t.Errorf("Content-Disposition is %q", got)
	}
	const chunk = c3po.FileChunkBytes
	for ranges, want := range map[string][]byte{
		"bytes=5-9": data[5:10], "bytes=261110-261130": data[chunk-10 : chunk+11], "bytes=-7": data[len(data)-7:], "bytes=600000-": data[600000:],
	} {
		if part := get("bob", ranges); part.status != http.StatusPartialContent || !bytes.Equal(part.body, want) {
			t.Errorf("%s: %d, %d bytes, want %d", ranges, part.status, len(part.body), len(want))
		}
	}
	if beyond := get("bob", "bytes=99999999-"); beyond.status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("beyond its end: %d", beyond.status)
	}
	if other := s.ask(t, question{path: path, as: "bob", space: newSpace()}); other.status != http.StatusBadRequest || bytes.Contains(other.body, []byte("<script")) {
		t.Errorf("in another space: %d, %d bytes", other.status, len(other.body))
	}
	s.op(t, space, "ann", "cancel", c3po.MessageInput{MessageID: message}, nil)
	if gone := get("bob", ""); gone.status != http.StatusBadRequest {
		t.Errorf("after it was cancelled: %d", gone.status)
	}
}
