package store

import (
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Notes are what a node learned and writes down once a second: they may be
// late or lost, so they under-report, but they never say what did not happen.
type Notes struct {
	Seen        []c3po.AgentID
	Late        []LateNote
	Served      []ServedNote
	Notified    []NotifiedNote
	Given       []GivenNote
	ServedPosts []PostServedNote
}

// Declared is the process an agent has named as its own.
type Declared struct {
	PID   int
	Start int64 // 0 if it did not say
	Seen  bool  // it was there once
}

// A LateNote says that an agent called some time ago. It moves nothing back.
type LateNote struct {
	Agent c3po.AgentID
	Ago   time.Duration
}

// A ServedNote says that an answer carrying the body was written.
type ServedNote struct {
	ID     c3po.MessageID
	Reader string // Caller.Reader
	Route  string
	Cursor int64 // the position the answer told the reader; 0 if it told none
	At     time.Time
	// Times is for how many answers this note stands, of which At is the last and First
	// the first; 0 and zero for one.
	Times int
	First time.Time
}

// A PostServedNote says that an answer carrying a post was written.
type PostServedNote struct {
	ID     c3po.MessageID
	Seq    int64 // of the post
	Agent  c3po.AgentID
	Reader string
	Cursor int64
	At     time.Time
}

// A NotifiedNote says that a session was told of all mail up to Seq.
type NotifiedNote struct {
	Agent  c3po.AgentID
	Reader string
	Route  string
	Seq    int64
	At     time.Time
}

// A GivenNote says that a reader was given all unacked mail up to Seq. A look of its
// that names no position begins there.
type GivenNote struct {
	Agent  c3po.AgentID
	Reader string
	Seq    int64
}

type presenceStore interface {
	// Attach says that this node holds a connection of the agent; Detach that it
	// no longer does, and since when: the agent was seen then. AGENT_NOT_FOUND if there is no such agent, perhaps because it
	// has another name by now. Attached agents are online while the node's lease lasts, which
	// Attach renews; one whose node has died is offline until it is seen again. So is
	// one that hung up: its process ended, or its network, and no call of its will
	// say so. Attach also says what the session does. Without a state nothing of it
	// waits at the node any more, which changes nothing if it is elsewhere by now. For a
	// closed session its host is attached: the agent stays offline and its name free, and
	// one whose session goes on is left as it is.
	Attach(ctx context.Context, space c3po.Space, id c3po.AgentID, node string, state c3po.SessionState) error
	Detach(ctx context.Context, space c3po.Space, id c3po.AgentID, node string, hungUp bool, ago time.Duration) error
	// RenewLease extends the node's lease in the space by Limits.NodeLease.
	RenewLease(ctx context.Context, space c3po.Space, node string) error
	// EndLease detaches everything the node holds; called when it stops.
	EndLease(ctx context.Context, space c3po.Space, node string) error
	// WriteNotes stores notes, also when the store is full. Those about messages that
	// are gone are dropped.
	// The first reader of a ticket that is still pending makes an EventDelivered.
	// How far a reader has come in a room is kept until the agent's cursor is
	// there; of somebody who is no member it is not.
	// Of the sessions of an agent, it is kept of the MaxMarkedReaders that came furthest how far
	// they were told of its mail, and given it.
	// One served record per reader is kept, at most MaxServedReaders per message; a note that
	// is not later than the reader's last is a repeat. That an agent was seen brings
	// back one that unregistered only if that was more than NotesLate ago.
	WriteNotes(ctx context.Context, space c3po.Space, notes Notes) error
}
