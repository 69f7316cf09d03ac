package hub_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po"
)

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// uploaded stores a file as an agent.
func uploaded(t *testing.T, svc c3po.Service, name string, data []byte) c3po.FileState {
	t.Helper()
	state := must(svc.FileBegin(t.Context(), c3po.FileInput{Name: name, Size: int64(len(data)), SHA256: sumOf(data)}))(t)
	for !state.Complete {
		end := min(state.Offset+c3po.FileChunkBytes, int64(len(data)))
		state = must(svc.FileAppend(t.Context(), c3po.FileChunkInput{ID: state.ID, Offset: state.Offset, Data: data[state.Offset:end]}))(t)
	}
	return state
}

func TestAFileIsReadByThoseWhoMayReadItsMessage(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	h.enter("carol")
	data := bytes.Repeat([]byte("0123456789"), c3po.FileChunkBytes/8)
	file := uploaded(t, h.as("alice"), "run.log", data)
	sent := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "see", Attach: []c3po.FileID{file.ID}}))(t)
	same(t, "attachments", sent.Attachments, []c3po.Attachment{{ID: file.ID, Name: "run.log", Size: int64(len(data)), SHA256: sumOf(data)}})
	for _, reader := range []c3po.AgentID{"alice", "bob"} {
		var got []byte
		for int64(len(got)) < file.Size {
			part := must(h.as(reader).FileRead(t.Context(), c3po.FileQuery{MessageID: sent.ID, File: file.ID, Offset: int64(len(got))}))(t)
			got = append(got, part.Data...)
		}
		if !bytes.Equal(got, data) {
			t.Errorf("%s reads something else", reader)
		}
	}
	part := must(h.as("bob").FileRead(t.Context(), c3po.FileQuery{MessageID: sent.ID, File: file.ID, Offset: 5}))(t)
	same(t, "from the middle", string(part.Data[:3]), "567")
	_, err := h.as("carol").FileRead(t.Context(), c3po.FileQuery{MessageID: sent.ID, File: file.ID})
	refused(t, err, c3po.InvalidRequest, "there is no file")
	other := h.send("alice", "carol", "nothing with it")
	_, err = h.as("carol").FileRead(t.Context(), c3po.FileQuery{MessageID: other.ID, File: file.ID})
	refused(t, err, c3po.InvalidRequest, "there is no file")
	_, err = h.as("carol").SendMessage(t.Context(), c3po.SendInput{Target: "carol", Message: "mine?", Attach: []c3po.FileID{file.ID}})
	refused(t, err, c3po.InvalidRequest, "there is no complete file")
}

func TestAFileThatIsNotWhatWasAnnouncedIsForgotten(t *testing.T) {
	t.Parallel()
	h := build(t)
	alice := h.as("alice")
	state := must(alice.FileBegin(t.Context(), c3po.FileInput{Name: "a", Size: 3, SHA256: sumOf([]byte("abc"))}))(t)
	_, err := alice.FileAppend(t.Context(), c3po.FileChunkInput{ID: state.ID, Data: []byte("abcd")})
	refused(t, err, c3po.InvalidRequest, "has 4 bytes, not 3")
	_, err = alice.FileAppend(t.Context(), c3po.FileChunkInput{ID: state.ID, Data: []byte("xyz")})
	refused(t, err, c3po.InvalidRequest, "do not have the sha256")
	_, err = alice.FileAppend(t.Context(), c3po.FileChunkInput{ID: state.ID, Data: []byte("abc")})
	refused(t, err, c3po.InvalidRequest, "there is no complete file")
}

func TestWhatNoFileCanBeCalledIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	sum := sumOf([]byte("x"))
	for _, in := range []c3po.FileInput{
		{Name: "", Size: 1, SHA256: sum}, {Name: "..", Size: 1, SHA256: sum}, {Name: "../x", Size: 1, SHA256: sum}, {Name: `a\b`, Size: 1, SHA256: sum},
		{Name: "a\x00", Size: 1, SHA256: sum}, {Name: "a\u202eb", Size: 1, SHA256: sum}, {Name: strings.Repeat("a", 300), Size: 1, SHA256: sum},
		{Name: "a", Size: 1, SHA256: "short"}, {Name: "a", Size: 1, SHA256: strings.ToUpper(sum)}, {Name: "a", Size: -1, SHA256: sum}, {Name: "a", Size: 51 << 20, SHA256: sum},
		{Name: "a", Size: 0, SHA256: sum}, {Name: "a", Type: "no type", Size: 1, SHA256: sum},
	} {
		if _, err := h.as("alice").FileBegin(t.Context(), in); c3po.AsError(err).Code != c3po.InvalidRequest {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func TestTheSameWordsAboutAnotherFileAreNoRepetition(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	for _, content := range []string{"one", "two", "three", "four", "five"} {
		file := uploaded(t, h.as("alice"), "run.log", []byte(content))
		must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "take this", Attach: []c3po.FileID{file.ID}}))(t)
	}
}
