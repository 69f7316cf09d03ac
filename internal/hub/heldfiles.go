package hub

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// maxFileHolders are listed of the agents whose files take room.
const maxFileHolders = 20

// FileList says what takes the room for files: to a person all of it, to an agent its own.
func (a *Actor) FileList(ctx context.Context, in c3po.FileListInput) (c3po.FileList, error) {
	skip, err := strconv.Atoi(cmp.Or(in.Cursor, "0"))
	if err != nil || skip < 0 {
		return c3po.FileList{}, refuse("cursor %q is not from an earlier page", c3po.Clip(in.Cursor))
	}
	if err := a.enterForThread(ctx); err != nil {
		return c3po.FileList{}, err
	}
	most := a.hub.limits.MaxPageItems
	if in.Limit > 0 {
		most = min(in.Limit, most)
	}
	files, book, err := a.hub.store.Files(ctx, a.space, skip, most)
	if err != nil {
		return c3po.FileList{}, err
	}
	out := c3po.FileList{MaxBytes: int64(a.hub.limits.SpaceFileBytes), Holders: []c3po.FileHolder{}, Files: []c3po.HeldFile{}}
	if len(files) == most {
		out.Next = strconv.Itoa(skip + most)
	}
	for from, bytes := range book.Held {
		out.Bytes += bytes
		if a.seesFilesOf(from) {
			out.Holders = append(out.Holders, c3po.FileHolder{Agent: from, Bytes: bytes})
		}
	}
	slices.SortFunc(out.Holders, func(x, y c3po.FileHolder) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Agent, y.Agent))
	})
	out.Holders = out.Holders[:min(len(out.Holders), maxFileHolders)]
	for _, f := range files {
		if !a.seesFilesOf(f.From) {
			continue
		}
		held := c3po.HeldFile{Attachment: f.Attachment, From: f.From, Offset: f.Offset, Messages: len(f.Messages)}
		if held.Messages == 0 {
			held.EndsIn = max(int(f.Looked-book.Lived), 1)
		}
		out.Files = append(out.Files, held)
	}
	return out, nil
}

func (a *Actor) seesFilesOf(from c3po.AgentID) bool { return from == a.id || a.caller.SeesAll() }

// FileDrop makes room: a person drops any file, an agent one of its own that no message
// carries. Of a message whose file was dropped, the rest stays.
func (a *Actor) FileDrop(ctx context.Context, in c3po.FileDropInput) (c3po.FileDropped, error) {
	if err := a.enterForThread(ctx); err != nil {
		return c3po.FileDropped{}, err
	}
	record, err := a.hub.store.File(ctx, a.space, in.ID)
	if err != nil {
		return c3po.FileDropped{}, err
	}
	person := a.caller.Person()
	if record == nil || !person && record.From != a.id {
		return c3po.FileDropped{}, c3po.Errorf(c3po.InvalidRequest, "there is no file '%s' that you may drop", c3po.Clip(string(in.ID))).
			Suggest("file_list shows those that you may.")
	}
	dropped, err := a.hub.store.DropFile(ctx, a.space, in.ID, person)
	switch {
	case err != nil:
		return c3po.FileDropped{}, err
	case !dropped:
		return c3po.FileDropped{}, c3po.Errorf(c3po.InvalidRequest, "a message carries %q", c3po.Clip(record.Name)).
			Suggest("Cancel the message, or let the person drop the file.")
	}
	return c3po.FileDropped{Bytes: record.Size + store.FileRowBytes}, nil
}

// dropFilesOf frees what a message that was cancelled has carried, unless another one
// does. That it fails is no matter: the sweep does it too.
func (a *Actor) dropFilesOf(ctx context.Context, m c3po.Message) {
	for _, file := range m.Attachments {
		_, _ = a.hub.store.DropFile(ctx, a.space, file.ID, false)
	}
}
