package envelope

import (
	"fmt"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// writeFiles lists the files of a message. What is known of one is ours; its name was
// chosen by its sender, and stands behind the gutter.
func writeFiles(b *strings.Builder, mark string, m c3po.Message, reads bool) {
	if len(m.Attachments) == 0 {
		return
	}
	for i, file := range m.Attachments {
		fmt.Fprintf(b, "[file %d %s] %s\n", i+1, mark, fileFacts(file))
		writeCarried(b, file.Name)
	}
	id := word(string(m.ID))
	fmt.Fprintf(b, "[files %s]", mark)
	if reads {
		fmt.Fprintf(b, ` to read: file_text(message_id="%s", file="1");`, id)
	}
	fmt.Fprintf(b, " to save: run c3po save %s\n", id)
}

func fileFacts(file c3po.Attachment) string {
	facts := fmt.Sprintf("%d bytes, ", file.Size)
	if file.Type != "" {
		facts += word(file.Type) + ", "
	}
	return facts + "sha256 " + word(file.SHA256)
}

// FileText shows a part of a file, of at most so many bytes.
func (r Renderer) FileText(text c3po.FileText, most int) string {
	var b strings.Builder
	mark := r.mark()
	if text.Binary {
		fmt.Fprintf(&b, "c3po: this file is no text: %s. To save it: run c3po save with the message's id.\n", fileFacts(text.Attachment))
		return b.String()
	}
	shown := fitText(text.Text, most)
	if next := text.Offset + int64(len(shown)); len(shown) < len(text.Text) {
		text.Next = next
	}
	fmt.Fprintf(&b, "c3po: bytes %d to %d of a file of %d that came with a message.\nc3po: %s\n\n[c3po %s] file\n", text.Offset, text.Offset+int64(len(shown)), text.Size, carries, mark)
	writeCarried(&b, shown)
	fmt.Fprintf(&b, "[end %s]", mark)
	if text.Next > 0 {
		fmt.Fprintf(&b, " to read on: offset=%d", text.Next)
	}
	b.WriteByte('\n')
	return b.String()
}

// fitText is as much of a text as takes so many bytes behind the gutter: up to the end of a line, if
// one ends in its last half.
func fitText(text string, most int) string {
	for len(text) > 0 {
		var b strings.Builder
		writeCarried(&b, text)
		if b.Len() <= most {
			return text
		}
		cut := strings.ToValidUTF8(text[:max(len(text)*most/b.Len()*9/10, 1)], "")
		if line := strings.LastIndexByte(cut, '\n') + 1; line > len(cut)/2 {
			cut = cut[:line]
		}
		text = cut
	}
	return text
}
