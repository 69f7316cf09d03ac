package store

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
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
	// A log of posts is kept in pieces, each a list of texts.
	pieceBytes = 4096 // and not many more are in one, unless a post alone is longer
	piecePosts = 100
	pieceHead  = 21  // before the first post of a piece
	pieceEntry = 504 // of a piece, beside the list
	postEntry  = 8   // of a post, beside its facts and its body
	postFacts  = 45  // the facts of a post, beside its sender, its kind, its durability and its weight
)

// Bytes is what the draft weighs as unacked mail, with its idempotency key. Names
// of threads are taken to be as long as ids.
func (d Draft) Bytes() int {
	id := d.idBytes()
	bytes := hashEntry + allocatedBytes(hexBytes) + allocatedBytes(d.bodyBytes()) +
		hashEntry + allocatedBytes(hexBytes) + allocatedBytes(factBytes+len(d.From)+id) +
		zsetEntry + allocatedBytes(hexBytes) + // its place in the inbox, or among ended mail
		zsetEntry + allocatedBytes(id) + // its end
		zsetEntry + allocatedBytes(2*id+21) // its place in the thread
	if d.ExpectsReply {
		bytes += zsetEntry + allocatedBytes(id)
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
	name = allocatedBytes(name + len(d.From) + 1)
	return hashEntry + name + allocatedBytes(keyBytes+len(d.To)+d.idBytes()) + zsetEntry + name
}

func (d Draft) idBytes() int { return len(d.From) + len(d.To) + 4 + hexBytes }

// bodyBytes is how long the body is as it is stored: as JSON behind a checksum.
func (d Draft) bodyBytes() int {
	bytes := 17 + escapedBytes(d.Text)
	for _, text := range []string{d.Context, d.Status, d.ContentType, string(d.HandedTo), string(d.Room)} {
		if text != "" {
			bytes += 7 + escapedBytes(text)
		}
	}
	if len(d.Metadata) > 0 {
		bytes += 5 + len(d.Metadata) + markedBytes(string(d.Metadata))
	}
	if len(d.Choices) > 0 {
		bytes += 6
		for _, choice := range d.Choices {
			bytes += 3 + escapedBytes(choice)
		}
	}
	if len(d.Attachments) > 0 {
		if list, err := json.Marshal(d.Attachments); err == nil {
			bytes += 5 + len(list)
		}
	}
	return bytes
}

// escapedBytes is how long a text is inside a JSON string. A character without a short
// escape takes six bytes: \u001b.
func escapedBytes(text string) int {
	bytes := len(text) + markedBytes(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"', c == '\\', c >= '\b' && c <= '\r' && c != '\v':
			bytes++
		case c < ' ':
			bytes += 5
		}
	}
	return bytes
}

// markedBytes is what grows in JSON wherever it stands: what HTML and JavaScript would
// take for their own.
func markedBytes(text string) int {
	more := 0
	for _, mark := range []string{"<", ">", "&", "\u2028", "\u2029"} {
		more += strings.Count(text, mark) * (6 - len(mark))
	}
	return more
}

// allocatedBytes is what a text takes: a header, an end, and what the allocator rounds
// them up to.
func allocatedBytes(text int) int {
	size := text + 4
	switch {
	case text < 32:
		size = text + 2
	case text >= 1<<16:
		size = text + 10
	case text >= 1<<8:
		size = text + 6
	}
	return roundUp(size)
}

// roundUp is what the allocator gives. It has four sizes between two powers of
// two, and above 128 bytes no finer ones.
func roundUp(size int) int {
	step := 16
	for 8*step < size {
		step *= 2
	}
	return (size + step - 1) / step * step
}

// Bytes is what the post weighs in its room: its share of a piece of posts like
// it. Its key is not counted: it is forgotten before the post is.
func (s PostStep) Bytes() int {
	body := s.bodyBytes()
	// In facts a slash is escaped. The weight itself is among them: about its digits.
	facts := postFacts + len(s.From) + strings.Count(string(s.From), "/") + len(s.Kind) + len(s.Durability) + len(strconv.Itoa(body+body/8+200))
	post := postEntry + listedBytes(facts) + listedBytes(body)
	// A piece is closed when another post, without what the list adds, is too much.
	posts := min(max(1, (pieceBytes-pieceHead-facts-body-2+post-1)/post), piecePosts)
	return (roundUp(pieceHead+posts*post) + pieceEntry) / posts
}

// listedBytes is what a text takes in a list: how long it is, before it and after it.
func listedBytes(text int) int {
	size := text + 5
	switch {
	case text < 1<<6:
		size = text + 1
	case text < 1<<12:
		size = text + 2
	}
	switch {
	case size < 1<<7:
		return size + 1
	case size < 1<<14-1:
		return size + 2
	}
	return size + 3
}

// MailBytes is what the post weighs as mail to any member it mentions.
func (s PostStep) MailBytes() int { return s.Mail(s.From).Bytes() }
