package hub

import (
	"encoding/base64"
	"strconv"

	"github.com/c3po-dev/c3po/c3po"
)

// A cursorKind keeps the cursor of one list from being used on another.
type cursorKind byte

const (
	agentCursor   cursorKind = 'a'
	inboxCursor   cursorKind = 'i'
	threadCursor  cursorKind = 't'
	ticketCursor  cursorKind = 'q'
	letterCursor  cursorKind = 'd'
	roomCursor    cursorKind = 'r'
	historyCursor cursorKind = 'h'
	searchCursor  cursorKind = 's'
)

// formatCursor wraps a position so that nobody is tempted to compute with it.
func formatCursor(kind cursorKind, position int64) string {
	plain := strconv.AppendInt([]byte{byte(kind)}, position, 10)
	return base64.RawURLEncoding.EncodeToString(plain)
}

// parseCursor gives the position; no cursor is the start.
func parseCursor(kind cursorKind, cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(plain) < 2 || cursorKind(plain[0]) != kind {
		return 0, badCursor()
	}
	position, err := strconv.ParseInt(string(plain[1:]), 10, 64)
	// Only what formatCursor writes is a cursor.
	if err != nil || position < 0 || formatCursor(kind, position) != cursor {
		return 0, badCursor()
	}
	return position, nil
}

func badCursor() *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, "this is not a cursor of this list").
		Suggest("Pass the previous answer's next unchanged, or leave the cursor out to start over.")
}
