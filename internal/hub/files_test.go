package hub_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
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

func TestTheFileOfACancelledMessageIsNotRead(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	file := uploaded(t, h.as("alice"), "run.log", []byte("secret"))
	send := func(text string) c3po.MessageID {
		return must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: text, Attach: []c3po.FileID{file.ID}}))(t).ID
	}
	read := func(id c3po.MessageID) error {
		_, err := h.as("bob").FileRead(t.Context(), c3po.FileQuery{MessageID: id, File: file.ID})
		return err
	}
	first, second := send("one"), send("two")
	must(h.as("alice").Cancel(t.Context(), c3po.MessageInput{MessageID: first}))(t)
	refused(t, read(first), c3po.InvalidRequest, "there is no file")
	if err := read(second); err != nil {
		t.Errorf("by another message: %v", err)
	}
	must(h.as("alice").Cancel(t.Context(), c3po.MessageInput{MessageID: second}))(t)
	refused(t, read(second), c3po.InvalidRequest, "there is no file")
	same(t, "files", len(must(h.as("alice").FileList(t.Context(), c3po.FileListInput{}))(t).Files), 0)
}

func TestAnUploadThatStoppedMakesRoomForAnother(t *testing.T) {
	t.Parallel()
	h := build(t, func(l *c3po.Limits) { l.SpaceFileBytes = 40_000 })
	begin := func(name string) error {
		_, err := h.as("alice").FileBegin(t.Context(), c3po.FileInput{Name: name, Size: 15_000, SHA256: sumOf([]byte(name))})
		return err
	}
	if err := begin("one"); err != nil {
		t.Fatal(err)
	}
	refused(t, begin("two"), c3po.StoreFull, "as one agent may")
	must(h.model.Tick(t.Context(), c3po.DefaultSpace, "", c3po.UploadLife))(t)
	h.model.Advance(c3po.UploadLife)
	must(h.model.Tick(t.Context(), c3po.DefaultSpace, "", c3po.UploadLife))(t)
	if err := begin("two"); err != nil {
		t.Errorf("after its time: %v", err)
	}
}

func TestAnAgentSeesAndDropsItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	mine, sent := uploaded(t, h.as("alice"), "mine", []byte("a")), uploaded(t, h.as("alice"), "sent", []byte("bb"))
	id := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "see", Attach: []c3po.FileID{sent.ID}}))(t).ID
	list := must(h.as("bob").FileList(t.Context(), c3po.FileListInput{}))(t)
	same(t, "of bob", len(list.Files)+len(list.Holders), 0)
	if list.Bytes == 0 {
		t.Error("bob is not told how full it is")
	}
	same(t, "of alice", len(must(h.as("alice").FileList(t.Context(), c3po.FileListInput{}))(t).Files), 2)
	drop := func(svc c3po.Service, id c3po.FileID) error {
		_, err := svc.FileDrop(t.Context(), c3po.FileDropInput{ID: id})
		return err
	}
	refused(t, drop(h.as("bob"), mine.ID), c3po.InvalidRequest, "there is no file")
	refused(t, drop(h.as("alice"), sent.ID), c3po.InvalidRequest, "a message carries")
	if err := drop(h.as("alice"), mine.ID); err != nil {
		t.Error(err)
	}
	if err := drop(h.asPerson(), sent.ID); err != nil {
		t.Error(err)
	}
	_, err := h.as("bob").FileRead(t.Context(), c3po.FileQuery{MessageID: id, File: sent.ID})
	refused(t, err, c3po.InvalidRequest, "not kept here any more")
}

func TestATextIsReadInPagesThatCutNoCharacter(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("bob")
	text := strings.Repeat("zeile mit ä und 日本\n", 20_000)
	var ids []c3po.FileID
	for name, content := range map[string]string{"a.log": text, "b.bin": "\x00\x01", "c.txt": ""} {
		ids = append(ids, uploaded(t, h.as("alice"), name, []byte(content)).ID)
	}
	id := must(h.as("alice").SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "see", Attach: ids}))(t).ID
	var got strings.Builder
	for in := (c3po.FileTextInput{MessageID: id, File: "a.log"}); ; {
		page := must(h.as("bob").FileText(t.Context(), in))(t)
		if !utf8.ValidString(page.Text) || len(page.Text) > 32<<10 {
			t.Fatalf("the page at %d has %d bytes, whole characters: %v", in.Offset, len(page.Text), utf8.ValidString(page.Text))
		}
		got.WriteString(page.Text)
		if in.Offset = page.Next; in.Offset == 0 {
			break
		}
	}
	if got.String() != text {
		t.Errorf("the pages make %d bytes, not %d", got.Len(), len(text))
	}
	same(t, "binary", must(h.as("bob").FileText(t.Context(), c3po.FileTextInput{MessageID: id, File: "b.bin"}))(t).Binary, true)
	same(t, "empty", must(h.as("bob").FileText(t.Context(), c3po.FileTextInput{MessageID: id, File: "c.txt"}))(t).Text, "")
	_, err := h.as("bob").FileText(t.Context(), c3po.FileTextInput{MessageID: id, File: "none"})
	refused(t, err, c3po.InvalidRequest, "there is no file")
	_, err = h.as("carol").FileText(t.Context(), c3po.FileTextInput{MessageID: id, File: "a.log"})
	refused(t, err, c3po.InvalidRequest, "there is no file")
}
