package hub

import (
	"bytes"
	"context"
	"strconv"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
)

// maxFileText is how much of a text one call reads, in bytes.
const maxFileText = 32 << 10

// FileText reads a part of a file as text, for who may read the message that carries it.
func (a *Actor) FileText(ctx context.Context, in c3po.FileTextInput) (c3po.FileText, error) {
	if err := checkID(in.MessageID); err != nil {
		return c3po.FileText{}, err
	}
	if err := a.enterForThread(ctx); err != nil {
		return c3po.FileText{}, err
	}
	file, err := a.attachment(ctx, in.MessageID, in.File, func(f c3po.Attachment, number int) bool {
		return in.File == "" || in.File == strconv.Itoa(number) || in.File == f.Name || in.File == string(f.ID)
	})
	if err != nil {
		return c3po.FileText{}, err
	}
	if in.Offset < 0 || in.Offset > file.Size {
		return c3po.FileText{}, refuse("offset is %d; the file has %d bytes", in.Offset, file.Size)
	}
	data, err := a.fileBytes(ctx, *file, in.Offset)
	if err != nil {
		return c3po.FileText{}, err
	}
	if at := in.Offset + int64(len(data)); len(data) < maxFileText && at < file.Size {
		more, err := a.fileBytes(ctx, *file, at)
		if err != nil {
			return c3po.FileText{}, err
		}
		data = append(bytes.Clone(data), more...)
	}
	out := c3po.FileText{Attachment: *file, Offset: in.Offset}
	page, whole := wholeRunes(data, maxFileText)
	if out.Binary = !isText(page); out.Binary {
		return out, nil
	}
	out.Text = string(page)
	if end := in.Offset + int64(len(page)); end < file.Size || !whole {
		out.Next = end
	}
	return out, nil
}

// wholeRunes cuts data to so many bytes, and in the middle of no character. It says
// whether that was all.
func wholeRunes(data []byte, most int) ([]byte, bool) {
	if len(data) <= most {
		return data, true
	}
	for cut := most; cut > most-utf8.UTFMax; cut-- {
		if utf8.RuneStart(data[cut]) {
			return data[:cut], false
		}
	}
	return data[:most], false
}

// isText tells a text, of which a byte here and there may be damaged, from other bytes.
func isText(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	odd := 0
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			odd++
		}
		rest = rest[size:]
	}
	return odd*20 <= len(data)
}
