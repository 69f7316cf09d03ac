package c3po

import "time"

// An AuditEntry is one thing that somebody will ask about later: who was let
// in, who was not, what was done for a person. It never holds a secret or a
// body.
type AuditEntry struct {
	ID     string    `json:"id"` // goes up
	At     time.Time `json:"at"`
	Event  string    `json:"event"`
	KID    string    `json:"kid,omitempty"` // the token it was done with, or to
	Role   Role      `json:"role,omitempty"`
	Space  string    `json:"space,omitempty"`
	Agent  string    `json:"agent,omitempty"`
	Remote string    `json:"remote,omitempty"` // address it came from
	Detail string    `json:"detail,omitempty"`
}
