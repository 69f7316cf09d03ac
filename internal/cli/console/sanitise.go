package console

import (
	"fmt"
	"io"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// Inline makes what others wrote fit into one of our lines.
func Inline(text string) string { return sanitise.Inline(text) }

// Block is a text of others on lines of its own, each behind a gutter, so that
// none can pass for a line that c3po wrote.
func Block(w io.Writer, text string) {
	for _, line := range sanitise.Lines(text) {
		fmt.Fprintf(w, "  | %s\n", line)
	}
}

func ReadLimited(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "cannot read the text: %w", err).Suggest("Give it as an argument.")
	}
	if int64(len(data)) > most {
		return nil, c3po.Errorf(c3po.InvalidRequest, "the text has more than %d bytes", most).
			Suggest("Send a shorter one that says where the rest is.")
	}
	return data, nil
}
