package hub_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestACursorOfOneListIsNoneOfAnother(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("a", "b", "c")
	page := must(h.asPerson().ListAgents(t.Context(), c3po.ListAgentsInput{Limit: 1}))(t)
	_, err := h.as("a").GetMessages(t.Context(), c3po.GetMessagesInput{Cursor: page.Next})
	refused(t, err, c3po.InvalidRequest)
	for _, plain := range []string{"a-1", "a01", "a+1", "a", "a99999999999999999999", "a1 "} {
		_, err := h.asPerson().ListAgents(t.Context(), c3po.ListAgentsInput{Cursor: base64.RawURLEncoding.EncodeToString([]byte(plain))})
		refused(t, err, c3po.InvalidRequest)
	}
}

// FuzzCursor: whatever a caller passes as a cursor is a position or a refusal.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "YTE", "aTQ1MDM1OTk2MjczNzA0OTc", "dDE", "YS0x", "====", "\xff", "YTk5OTk5OTk5OTk5OTk5OTk5OTk5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		h := build(t)
		h.enter("bob")
		thread := h.send("alice", "bob", "hi").Thread
		_, agents := h.as("bob").ListAgents(t.Context(), c3po.ListAgentsInput{Cursor: cursor})
		_, inbox := h.as("bob").Peek(t.Context(), c3po.GetMessagesInput{Cursor: cursor})
		_, pages := h.as("bob").GetThread(t.Context(), c3po.ThreadInput{Thread: thread, Cursor: cursor})
		_, hits := h.asPerson().Search(t.Context(), c3po.SearchInput{Words: "hi", Cursor: cursor})
		accepted := 0
		for _, err := range []error{agents, inbox, pages, hits} {
			if err == nil {
				accepted++
			} else if !errors.Is(err, c3po.InvalidRequest) {
				t.Errorf("cursor %q: %v", cursor, err)
			}
		}
		if cursor != "" && accepted > 1 {
			t.Errorf("cursor %q fits %d lists", cursor, accepted)
		}
	})
}
