package dialect

import (
	"bytes"
	"encoding/json"

	"github.com/c3po-dev/c3po/c3po"
)

// A Payload is a text, or any other JSON value, which travels as it is.
type Payload struct {
	Text string // of a JSON value, the value
	JSON bool
}

const jsonContent = "application/json"

// MarshalJSON writes a text as a string and everything else as itself.
func (p Payload) MarshalJSON() ([]byte, error) {
	if p.JSON {
		return []byte(p.Text), nil
	}
	return json.Marshal(p.Text)
}

// UnmarshalJSON takes a string as a text.
func (p *Payload) UnmarshalJSON(data []byte) error {
	*p = Payload{}
	if data[0] == '"' || string(data) == "null" {
		return json.Unmarshal(data, &p.Text)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return err
	}
	p.Text, p.JSON = compact.String(), true
	return nil
}

func payloadOf(m c3po.Message) *Payload {
	text := m.Text()
	return &Payload{Text: text, JSON: m.ContentType == jsonContent && json.Valid([]byte(text))}
}

func (p Payload) contentType() string {
	if p.JSON {
		return jsonContent
	}
	return ""
}
