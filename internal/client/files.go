package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"

	"github.com/c3po-dev/c3po/c3po"
)

// Upload stores a file for a message to carry. What an earlier try has stored is not sent
// again. The content is read twice: for its hash, and for its bytes. Of one that is too
// large no more is read than shows it.
func (c *Client) Upload(ctx context.Context, name, kind string, content io.ReadSeeker) (c3po.FileState, error) {
	info, err := c.ServerInfo(ctx, c3po.None{})
	if err != nil {
		return c3po.FileState{}, err
	}
	most := cmp.Or(info.FileBytes, math.MaxInt64-1) // an older coordinator doesn't say
	size, err := content.Seek(0, io.SeekEnd)
	if err == nil && size <= most {
		_, err = content.Seek(0, io.SeekStart)
	}
	sum := sha256.New()
	if err == nil && size <= most {
		size, err = io.Copy(sum, io.LimitReader(content, most+1)) // it may grow, or not know its size
	}
	if err != nil {
		return c3po.FileState{}, fmt.Errorf("read %s: %w", name, err)
	}
	if size > most {
		return c3po.FileState{}, c3po.RefuseFileSize(name, size, most)
	}
	state, err := c.FileBegin(ctx, c3po.FileInput{Name: name, Size: size, Type: kind, SHA256: hex.EncodeToString(sum.Sum(nil))})
	part := make([]byte, min(size, c3po.FileChunkBytes))
	for err == nil && !state.Complete {
		if _, err := content.Seek(state.Offset, io.SeekStart); err != nil {
			return state, fmt.Errorf("read %s: %w", name, err)
		}
		n, err := io.ReadFull(content, part[:min(size-state.Offset, c3po.FileChunkBytes)])
		if err != nil {
			return state, c3po.Errorf(c3po.InvalidRequest, "%s has changed while it was sent", name).Suggest("Send it again.")
		}
		if state, err = c.FileAppend(ctx, c3po.FileChunkInput{ID: state.ID, Offset: state.Offset, Data: part[:n]}); err != nil {
			return state, err
		}
	}
	return state, err
}

// Download writes a file that came with a message, and holds it to the hash that the
// message names.
func (c *Client) Download(ctx context.Context, message c3po.MessageID, file c3po.Attachment, to io.Writer) error {
	sum := sha256.New()
	for offset := int64(0); offset < file.Size; {
		part, err := c.FileRead(ctx, c3po.FileQuery{MessageID: message, File: file.ID, Offset: offset})
		if err != nil {
			return err
		}
		if len(part.Data) == 0 {
			break
		}
		sum.Write(part.Data)
		if _, err := to.Write(part.Data); err != nil {
			return err
		}
		offset += int64(len(part.Data))
	}
	if hex.EncodeToString(sum.Sum(nil)) != file.SHA256 {
		return c3po.Errorf(c3po.Internal, "what came of %q is not what was sent: its sha256 differs", file.Name).Suggest("Ask its sender to send it again.")
	}
	return nil
}
