package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes v on one line. What a reader does not see is escaped inside its
// strings, so that quoted text can neither start a line nor change how the rest
// is shown; read back, the value is the same.
func JSON(v any) ([]byte, error) {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write the answer as JSON: %w", err)
	}
	// A hidden character of valid JSON is inside a string, where an escape means
	// the same.
	var out bytes.Buffer
	rest := bytes.TrimSuffix(raw.Bytes(), []byte("\n"))
	for {
		at := bytes.IndexFunc(rest, func(r rune) bool { return hidden(r) || startsLine(r) })
		switch {
		case at < 0 && out.Len() == 0:
			return rest, nil
		case at < 0:
			out.Write(rest)
			return out.Bytes(), nil
		}
		out.Write(rest[:at])
		r, size := utf8.DecodeRune(rest[at:])
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		rest = rest[at+size:]
	}
}
