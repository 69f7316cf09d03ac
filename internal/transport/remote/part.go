package remote

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// A part is a piece of what the other side says. A file is beside its name in version 1.0,
// and within an object in 0.3.
type part struct {
	Text      *string         `json:"text"`
	Data      json.RawMessage `json:"data"`
	URL       string          `json:"url"`
	Raw       string          `json:"raw"`
	Filename  string          `json:"filename"`
	MediaType string          `json:"mediaType"`
	File      *struct {
		Name     string `json:"name"`
		MimeType string `json:"mimeType"`
		URI      string `json:"uri"`
		Bytes    string `json:"bytes"`
	} `json:"file"`
}

// words is the part as a reply can hold it. A file is named: its reader knows that it is
// there, and may fetch it if it has an address.
func (p part) words() string {
	switch {
	case p.Text != nil:
		return *p.Text
	case len(p.Data) > 0:
		return string(p.Data)
	}
	name, kind, at, content := p.Filename, p.MediaType, p.URL, p.Raw
	if p.File != nil {
		name, kind, at, content = p.File.Name, p.File.MimeType, p.File.URI, p.File.Bytes
	}
	said := fmt.Sprintf("File %s (%s)", cmp.Or(name, "without a name"), cmp.Or(kind, "of unknown type"))
	switch {
	case at != "":
		return said + ": " + at
	case content != "":
		return fmt.Sprintf("%s: %d bytes, which c3po does not pass on", said, len(content)/4*3)
	default:
		return "(A part that is neither text, JSON nor a file.)"
	}
}
