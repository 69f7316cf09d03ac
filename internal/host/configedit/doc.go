// Package configedit puts something of ours into a file that is a person's, and
// takes it out again. It splices text and renders nothing anew: comments, order,
// indentation and keys it has never heard of stay as they are, byte for byte.
//
// It changes no file that it cannot read, and hands back no text that a parser
// of the format would refuse.
package configedit

import "github.com/c3po-dev/c3po/c3po"

// An Undo is how one place looked before something was put there. Taking things
// out needs it where the text alone does not tell: whether an object that is
// empty now was there before, and how its braces stood.
type Undo struct {
	Path []string `json:"path"`
	Was  *string  `json:"was,omitempty"` // the text of the value; nil if there was none
}

// unreadable is the error of a file that is not what its name says.
func unreadable(format string, err error) error {
	return c3po.Errorf(c3po.InvalidRequest, "it is not valid %s: %w", format, err).
		Suggest("Mend the file first; nothing was changed.")
}
