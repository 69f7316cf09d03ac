package c3po

import "time"

// An Event is one entry of a space's log: a state changed. Every event takes
// the next number of the space's sequence; a message's own number is that of
// the event that accepted it.
type Event struct {
	Seq   int64     `json:"seq"`
	Kind  EventKind `json:"kind"`
	Agent AgentID   `json:"agent,omitempty"`      // whose waiters it concerns
	ID    MessageID `json:"message_id,omitempty"` // the message it is about
	At    time.Time `json:"at"`
}

// EventKind says what changed.
type EventKind string

// The kinds of event. A reply is two: answered (the reply itself, which wakes
// the asker) and, if the answered message was pending, acked.
const (
	EventAccepted     EventKind = "accepted"     // a message; Agent is its recipient
	EventAnswered     EventKind = "answered"     // a reply; Agent is its recipient, ID the reply's own
	EventAcked        EventKind = "acked"        // no Agent
	EventDead         EventKind = "dead"         // no Agent
	EventRegistered   EventKind = "registered"   // a new agent, or a new run of it; Agent is the agent
	EventUnregistered EventKind = "unregistered" // Agent is the agent
	EventPaused       EventKind = "paused"       // Agent is the agent; empty for the whole space
	EventResumed      EventKind = "resumed"      // as paused
)
