package c3po

import "time"

// SearchInput says what to look for, and where to go on.
type SearchInput struct {
	Words  string `json:"words" jsonschema:"What to look for: messages that contain every word, in any case; at most 500 characters"`
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// A SearchHit is a message that contains every word.
type SearchHit struct {
	ID        MessageID `json:"id"`
	Thread    string    `json:"thread,omitempty"` // of mail
	Room      RoomName  `json:"room,omitempty"`   // of a post
	FromAgent AgentID   `json:"from_agent"`
	ToAgent   AgentID   `json:"to_agent,omitempty"` // of mail
	At        time.Time `json:"at"`
	Excerpt   string    `json:"excerpt"` // the line with the first of the words, cut short
}

// A SearchPage is what was found in the time that one call has, the newest first. It may
// have no hits and still go on.
type SearchPage struct {
	Hits []SearchHit `json:"hits"`
	Next string      `json:"next,omitempty"` // where to go on; empty when everything was searched
	Back time.Time   `json:"back,omitzero"`  // with next: everything said since then was searched
}

// Rows is the part that REST answers as a bare array.
func (p *SearchPage) Rows() any { return &p.Hits }

// Cursor is where the next page starts.
func (p *SearchPage) Cursor() *string { return &p.Next }
