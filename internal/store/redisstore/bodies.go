package redisstore

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// A body is stored once and never changed: a form digit, eight hex digits of
// CRC-32C over the rest, and the rest as JSON. Redis's own log has no
// checksums, so a flipped bit is found here or nowhere.
type body struct {
	Text        string            `json:"m"`
	Context     string            `json:"c,omitempty"`
	Status      string            `json:"s,omitempty"`
	ContentType string            `json:"t,omitempty"`
	Metadata    json.RawMessage   `json:"x,omitempty"`
	HandedTo    c3po.AgentID      `json:"h,omitempty"`
	Choices     []string          `json:"o,omitempty"`
	Room        c3po.RoomName     `json:"r,omitempty"`
	Proof       *c3po.Proof       `json:"p,omitempty"`
	Attachments []c3po.Attachment `json:"a,omitempty"`
}

const (
	bodyForm   = "1"
	bodyPrefix = 9
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func bodyOf(d store.Draft) body {
	return body{Text: d.Text, Context: d.Context, Status: d.Status, ContentType: d.ContentType, Metadata: d.Metadata, HandedTo: d.HandedTo, Choices: d.Choices, Room: d.Room, Proof: d.Proof, Attachments: d.Attachments}
}

// fill puts the body into a message whose kind is known.
func (b body) fill(m *c3po.Message) {
	if m.Kind == c3po.KindReply {
		m.Response = b.Text
	} else {
		m.Message = b.Text
	}
	m.Context, m.Status, m.ContentType, m.Metadata, m.HandedTo = b.Context, b.Status, b.ContentType, b.Metadata, b.HandedTo
	m.Choices = b.Choices
	m.Room = b.Room
	m.Proof = b.Proof
	m.Attachments = b.Attachments
}

func encodeBody(d store.Draft) (string, error) {
	text, err := json.Marshal(bodyOf(d))
	if err != nil {
		return "", fmt.Errorf("encode body: %w", err)
	}
	var stored strings.Builder
	stored.Grow(bodyPrefix + len(text))
	stored.WriteString(bodyForm)
	stored.WriteString(checksum(text))
	stored.Write(text)
	return stored.String(), nil
}

// decodeBody reports false for a body that is not what was stored.
func decodeBody(stored string) (body, bool) {
	var b body
	if len(stored) < bodyPrefix || stored[:1] != bodyForm {
		return b, false
	}
	text := []byte(stored[bodyPrefix:])
	if checksum(text) != stored[1:bodyPrefix] {
		return b, false
	}
	if b, plain := plainBody(stored[bodyPrefix:]); plain {
		return b, true
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, false
	}
	return b, true
}

// plainBody reads a body that has texts only. It reports false for all that it does not know.
func plainBody(text string) (b body, ok bool) {
	ok = plainFields(text, func(name, value string, number bool) bool {
		switch {
		case number:
			return false
		case name == "m":
			b.Text = value
		case name == "c":
			b.Context = value
		case name == "s":
			b.Status = value
		case name == "t":
			b.ContentType = value
		default:
			return false
		}
		return true
	})
	return b, ok
}

func checksum(text []byte) string {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(text, castagnoli))
	return hex.EncodeToString(sum[:])
}
