package c3po

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An Event is one entry of a space's log: a state changed. Every event takes
// the next number of the space's sequence; a message's own number is that of
// the event that accepted it.
type Event struct {
	Seq   int64     `json:"seq"`
	Kind  EventKind `json:"kind"`
	Agent AgentID   `json:"agent,omitempty"`      // whose waiters it concerns
	Room  RoomName  `json:"room,omitempty"`       // a public room it happened in
	ID    MessageID `json:"message_id,omitempty"` // the message it is about
	At    time.Time `json:"at"`
	Node  string    `json:"node,omitempty"` // the coordinator that took the step
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
	EventDelivered    EventKind = "delivered"    // a ticket, to its first reader; no Agent
	EventTimedOut     EventKind = "timed_out"    // the deadline of a ticket; Agent is who asked
	EventCancelled    EventKind = "cancelled"    // Agent is who asked
	EventClaimed      EventKind = "claimed"      // a message of a role has a holder; no Agent
	EventReleased     EventKind = "released"     // its holder cannot work on it now, so others may take it; Agent is the role's address
	EventRedelivered  EventKind = "redelivered"  // a dead letter is back in the inbox; Agent is its recipient
	EventRenamed      EventKind = "renamed"      // twice: Agent is the former id, then the new one
	EventRetired      EventKind = "retired"      // Agent is the agent
	EventRegistered   EventKind = "registered"   // a new agent, or a new run of it; Agent is the agent
	EventUnregistered EventKind = "unregistered" // Agent is the agent
	EventDied         EventKind = "died"         // the process of its run has ended; Agent is the agent
	EventPaused       EventKind = "paused"       // Agent is the agent; empty for the whole space
	EventResumed      EventKind = "resumed"      // as paused
	EventPosted       EventKind = "posted"       // in a room; Room and ID if it is public, else neither
	EventJoined       EventKind = "joined"       // a room; Agent is the new member
	EventLeft         EventKind = "left"         // a room; Agent is who was a member
	EventRoomEnded    EventKind = "room_ended"   // no Agent: which room it was is gone with it
	EventRollback     EventKind = "rollback"     // the store has forgotten acknowledged writes; no Agent: it concerns all
)

// An EventCursor is a place in the log of a space, written "epoch:seq". The
// epoch rises when the store was found to have forgotten acknowledged writes:
// places of an earlier epoch may never have been, so nobody can go on from them.
type EventCursor struct {
	Epoch int64
	Seq   int64
}

func (c EventCursor) String() string { return fmt.Sprintf("%d:%d", c.Epoch, c.Seq) }

// ParseEventCursor reads what String wrote.
func ParseEventCursor(s string) (EventCursor, error) {
	epoch, seq, found := strings.Cut(s, ":")
	e, err := strconv.ParseInt(epoch, 10, 64)
	n, err2 := strconv.ParseInt(seq, 10, 64)
	if !found || err != nil || err2 != nil || e < 1 || n < 0 {
		return EventCursor{}, Errorf(InvalidRequest, "%q is not the id of an event", s).
			Suggest("Use the id of the last event you have, or leave it out to begin now.")
	}
	return EventCursor{Epoch: e, Seq: n}, nil
}

// A StreamEvent is one entry of a live stream of events: a word about the
// stream itself, or an event. Who has it can go on from At.
type StreamEvent struct {
	At    EventCursor
	Start *StreamStart
	Event *Event
}

// A StreamStart says where a stream begins, or begins again. If nothing was
// recovered, events between the place that was asked for and this one are lost
// to the reader: it should look at the state itself, and read on from here.
type StreamStart struct {
	Recovered bool        `json:"recovered"` // nothing is missing between the place that was asked for and this one
	Epoch     int64       `json:"epoch"`
	Seq       int64       `json:"seq"`
	Reason    ResetReason `json:"reason,omitempty"`
}

// ResetReason says why a stream could not go on where it was asked to.
type ResetReason string

// The reasons.
const (
	ResetTrimmed ResetReason = "trimmed" // the log no longer holds the events after that place
	ResetEpoch   ResetReason = "epoch"   // the store went back; that place belongs to what it has forgotten
)
