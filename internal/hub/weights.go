package hub

import (
	"strings"

	"github.com/c3po-dev/c3po"
)

// Limits in bytes mean what the store holds. These are the sizes of what Redis
// 7.0 keeps for a message, as its MEMORY USAGE tells them; a test compares the two.
const (
	hashEntry = 32  // of a field, beside its name and its value
	zsetEntry = 86  // of a member, beside its name
	hexBytes  = 8   // the number of a message in ids
	factBytes = 118 // the facts of an unread message, beside its names
	keyBytes  = 138 // what is kept of an idempotency key, beside its names
	keyText   = 66  // a key that the sender did not name: two letters and a digest
	// A log of posts is kept in pieces.
	pieceBytes = 4096
	pieceEntry = 160 // of a piece, beside what is in it
	postBytes  = 86  // of a post, beside its sender and its text
)

// Bytes is what the draft weighs as unacked mail, with its idempotency key. Names
// of threads are taken to be as long as ids.
func (d Draft) Bytes() int {
	id := d.idBytes()
	bytes := hashEntry + allotted(hexBytes) + allotted(d.bodyBytes()) +
		hashEntry + allotted(hexBytes) + allotted(factBytes+len(d.From)+id) +
		zsetEntry + allotted(hexBytes) + // its place in the inbox, or among ended mail
		zsetEntry + allotted(id) + // its end
		zsetEntry + allotted(2*id+21) // its place in the thread
	if d.ExpectsReply {
		bytes += zsetEntry + allotted(id)
	}
	return bytes + d.KeyBytes()
}

// KeyBytes is the part of Bytes that is the idempotency key, which is forgotten
// before an ended message is. What the system writes and what a post sends as mail
// has none.
func (d Draft) KeyBytes() int {
	if d.From == c3po.System || d.Room != "" {
		return 0
	}
	name := keyText
	if d.Key != "" {
		name = len(d.Key) + 2
	}
	name = allotted(name + len(d.From) + 1)
	return hashEntry + name + allotted(keyBytes+len(d.To)+d.idBytes()) + zsetEntry + name
}

func (d Draft) idBytes() int { return len(d.From) + len(d.To) + 4 + hexBytes }

// bodyBytes is how long the body is as it is stored: as JSON behind a checksum.
func (d Draft) bodyBytes() int {
	bytes := 17 + len(d.Metadata)
	for _, text := range append([]string{d.Text, d.Context, d.Status, d.ContentType, string(d.HandedTo), string(d.Room)}, d.Choices...) {
		bytes += len(text) + 6
		for _, escaped := range []string{`"`, `\`, "\n", "\t"} {
			bytes += strings.Count(text, escaped)
		}
		for _, escaped := range []string{"<", ">", "&"} {
			bytes += 5 * strings.Count(text, escaped)
		}
		if text == "" {
			bytes -= 6
		}
	}
	return bytes - 6
}

// allotted is what a text takes: a header, an end, and what the allocator rounds
// them up to. It has four sizes between two powers of two, and above 128 bytes
// no finer ones.
func allotted(text int) int {
	size := text + 4
	switch {
	case text < 32:
		size = text + 2
	case text >= 1<<16:
		size = text + 10
	case text >= 1<<8:
		size = text + 6
	}
	step := 16
	for 8*step < size {
		step *= 2
	}
	return (size + step - 1) / step * step
}

// Bytes is what the post weighs in its room. Its key is not counted: it is
// forgotten before the post is.
func (s PostStep) Bytes() int {
	bytes := postBytes + len(s.From) + s.bodyBytes()
	if bytes >= pieceBytes {
		return allotted(bytes) + pieceEntry
	}
	return bytes + bytes*pieceEntry/pieceBytes + bytes/16
}

// MailBytes is what the post weighs as mail of a member that is mentioned in it,
// whoever that is.
func (s PostStep) MailBytes() int { return s.Mail(s.From).Bytes() }
