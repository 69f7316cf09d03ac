package redisstore

import (
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/hub"
)

// A body is stored once and never changed: a form digit, eight hex digits of
// CRC-32C over the rest, and the rest as JSON. Redis's own log has no
// checksums, so a flipped bit is found here or nowhere.
type body struct {
	Text        string          `json:"m"`
	Context     string          `json:"c,omitempty"`
	Status      string          `json:"s,omitempty"`
	ContentType string          `json:"t,omitempty"`
	Metadata    json.RawMessage `json:"x,omitempty"`
	HandedTo    c3po.AgentID    `json:"h,omitempty"`
}

const (
	bodyForm   = "1"
	bodyPrefix = 9
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeBody(d hub.Draft) (string, error) {
	text, err := json.Marshal(body{
		Text: d.Text, Context: d.Context, Status: d.Status, ContentType: d.ContentType, Metadata: d.Metadata, HandedTo: d.HandedTo,
	})
	if err != nil {
		return "", fmt.Errorf("encode body: %w", err)
	}
	return fmt.Sprintf("%s%08x%s", bodyForm, crc32.Checksum(text, castagnoli), text), nil
}

// decodeBody reports false for a body that is not what was stored.
func decodeBody(stored string) (body, bool) {
	var b body
	if len(stored) < bodyPrefix || stored[:1] != bodyForm {
		return b, false
	}
	text := stored[bodyPrefix:]
	if fmt.Sprintf("%08x", crc32.Checksum([]byte(text), castagnoli)) != stored[1:bodyPrefix] {
		return b, false
	}
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return b, false
	}
	return b, true
}
