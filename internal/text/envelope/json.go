package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/c3po-dev/c3po/internal/text/sanitise"
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
	return sanitise.JSON(bytes.TrimSuffix(raw.Bytes(), []byte("\n"))), nil
}
