package c3po

import "time"

// A Letter is a message that ended without being acked, as its keeper lists it:
// without its text.
type Letter struct {
	ID        MessageID `json:"id"`
	FromAgent AgentID   `json:"from_agent"`
	ToAgent   AgentID   `json:"to_agent"`
	Kind      Kind      `json:"kind"`
	Thread    string    `json:"thread"`
	Reason    string    `json:"reason" enum:"expired,corrupt,recipient_removed"` // why it is dead: expired, corrupt or recipient_removed
	Bytes     int       `json:"bytes"`
	SentAt    time.Time `json:"sent_at"`
	DiedAt    time.Time `json:"died_at"`
}

// LettersInput pages through dead letters.
type LettersInput struct {
	AgentID string `json:"agent_id,omitempty" jsonschema:"Only letters to this agent"`
	Reason  string `json:"reason,omitempty" jsonschema:"Only letters that died for this reason: expired, corrupt or recipient_removed"`
	Since   string `json:"since,omitempty" jsonschema:"Only letters that died since then: a time (RFC 3339), or how long ago, for example 12h or 7d"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit   int    `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// A LetterList is one page of dead letters in the order they died.
type LetterList struct {
	Letters []Letter `json:"letters"`
	Next    string   `json:"next,omitempty"`
}

// Rows is the part that REST answers as a bare array.
func (l *LetterList) Rows() any { return &l.Letters }

// Cursor is where the next page starts.
func (l *LetterList) Cursor() *string { return &l.Next }

// A LetterView is one dead letter with its text.
type LetterView struct {
	Letter  Letter  `json:"letter"`
	Message Message `json:"message"`
}

// LetterSelection names dead letters to do something with: one by one, by a
// filter, or all of them.
type LetterSelection struct {
	MessageIDs []MessageID `json:"message_ids,omitempty" jsonschema:"These letters; with nothing else"`
	AgentID    string      `json:"agent_id,omitempty" jsonschema:"Only letters to this agent"`
	Reason     string      `json:"reason,omitempty" jsonschema:"Only letters that died for this reason: expired, corrupt or recipient_removed"`
	Since      string      `json:"since,omitempty" jsonschema:"Only letters that died since then: a time (RFC 3339), or how long ago, for example 12h or 7d"`
	All        bool        `json:"all,omitempty" jsonschema:"Every letter; with nothing else"`
}

// LetterOutcome says what became of the letters that were selected.
type LetterOutcome struct {
	Done []MessageID  `json:"done"`
	Left []LetterLeft `json:"left"`
	More bool         `json:"more"` // there are more than one call does: call again
	// Undecided are those at which the call failed, and those after, when some were
	// done: call again with them. Notice says why.
	Undecided []MessageID `json:"undecided,omitempty" jsonschema:"Where the call failed, and those after: call again with them"`
	Notice    string      `json:"notice,omitempty"` // what failed after the change was stored
}

// LetterLeft is a letter that nothing was done with, and why.
type LetterLeft struct {
	ID  MessageID `json:"id"`
	Why string    `json:"why"`
}

// SweepInput says whom to sweep.
type SweepInput struct {
	AgentID string `json:"agent_id,omitempty" jsonschema:"Only this agent, however short it was silent; not while a session of it runs"`
	Older   string `json:"older,omitempty" jsonschema:"Only agents that were silent for so long, for example 90m, 24h or 7d; 24h if left out"`
	DryRun  bool   `json:"dry_run,omitempty" jsonschema:"Only say who would be swept"`
}

// SweepResult says who was swept, or would be.
type SweepResult struct {
	DryRun bool         `json:"dry_run"`
	Swept  []SweptAgent `json:"swept"`
	More   bool         `json:"more"`             // there are more than one call does: call again
	Notice string       `json:"notice,omitempty"` // what failed after the change was stored
}

// A SweptAgent is no longer registered.
type SweptAgent struct {
	ID        AgentID   `json:"id"`
	SilentFor int64     `json:"silent_seconds"` // of lived time
	LastSeen  time.Time `json:"last_seen"`
	Letters   int       `json:"letters"` // unread mail, now dead letters
}
