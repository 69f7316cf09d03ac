package c3po

import "time"

// MessageInput names one message.
type MessageInput struct {
	MessageID MessageID `json:"message_id" jsonschema:"Id of the message"`
}

// A Trace is the whole life of one message: facts recorded separately, none of
// which implies another. It never carries the body.
type Trace struct {
	ID           MessageID  `json:"id"`
	Seq          int64      `json:"seq"`
	TraceID      string     `json:"trace_id,omitempty"` // of OpenTelemetry: the same for all messages of the chain
	Kind         Kind       `json:"kind"`
	Thread       string     `json:"thread"`
	Priority     Priority   `json:"priority"`
	ExpectsReply bool       `json:"expects_reply"`
	MessageID    MessageID  `json:"message_id,omitempty"` // what it answers
	Follows      string     `json:"follows,omitempty"`    // the thread that its sender reacted to with it, if it is another
	Bytes        int        `json:"bytes"`
	BodyGone     bool       `json:"body_gone,omitempty"`
	State        string     `json:"state" enum:"pending,acked,cancelled,dead,posted"` // pending, acked, cancelled or dead
	Reason       string     `json:"reason,omitempty"`
	Accepted     Fact       `json:"accepted"`
	Notified     []Fact     `json:"notified"`
	Started      []Fact     `json:"started,omitempty"` // sessions that were resumed for it: what, by what and with which rights is in their session
	Served       []Fact     `json:"served"`
	Received     *Fact      `json:"received"`
	Claimed      *Claim     `json:"claimed,omitempty"` // of a role's mail: who claimed it last
	Stalled      *Fact      `json:"stalled,omitempty"` // since when the agent that has it makes no step
	Silent       *Fact      `json:"silent,omitempty"`  // the asked agent had read it and ended its turn without an answer
	Ended        *Fact      `json:"ended"`
	Answered     []Answered `json:"answered"`
	Cost         *Cost      `json:"cost,omitempty"`       // what its answer has cost; missing: unknown
	ChainCost    *Cost      `json:"chain_cost,omitempty"` // what the conversation has cost, this and all that followed from it; missing: unknown
	Deliveries   int        `json:"deliveries"`
	Proof        *Proof     `json:"proof,omitempty"`        // its sender, a person, confirmed it with a passkey
	Unproved     bool       `json:"unproved,omitempty"`     // it is in a person's name, and no passkey has confirmed it: it is withheld
	GoesBackTo   *Word      `json:"goes_back_to,omitempty"` // what a person wrote and this follows from
	// Of a pending message to an agent: when it reads mail that waits now, and since when
	// its session is in the state which that follows from.
	Reachability Reachability `json:"reachability,omitempty" jsonschema:"Of a pending message to an agent: when it reads mail that waits now"`
	StateSince   *time.Time   `json:"state_since,omitempty" jsonschema:"Since when the session is in the state which that follows from"`
	Expires      string       `json:"expires,omitempty"` // lived time left, in words a person reads
}

// StatePosted is the one state of a post: it stays in its room until there are
// too many.
const StatePosted = "posted"

// The states of a message; each but the first is final.
const (
	StatePending   = "pending"
	StateAcked     = "acked"
	StateCancelled = "cancelled"
	StateDead      = "dead"
)

// The reasons of a dead letter.
const (
	ReasonExpired          = "expired"
	ReasonCorrupt          = "corrupt"
	ReasonRecipientRemoved = "recipient_removed" // comes back with the recipient
)

// A Fact is something that was proved, when, and by what.
type Fact struct {
	At         time.Time  `json:"at"`
	Session    string     `json:"session,omitempty"`
	Route      string     `json:"route,omitempty"`
	Times      int        `json:"times,omitempty"`
	Durability Durability `json:"durability,omitempty"`
}

// Answered is one reply to a message.
type Answered struct {
	ID    MessageID `json:"id"`
	At    time.Time `json:"at"`
	Proof *Proof    `json:"proof,omitempty"` // a person confirmed it with a passkey
	// Unproved is an answer in a person's name that no passkey has confirmed: it is withheld.
	Unproved bool      `json:"unproved,omitempty"`
	Verdict  string    `json:"verdict,omitempty"`  // what a person decided on an approval: allowed Bash once, denied Bash
	MovedTo  MessageID `json:"moved_to,omitempty"` // it hands the ticket over: the message that has it now
}

// Audit is the result of fsck: what the counters say, what is really there,
// and whether the books balance.
type Audit struct {
	Space      Space    `json:"space"`
	Epoch      int64    `json:"epoch"` // 1, and one more for each time the store was found to have forgotten acknowledged writes
	Sent       int64    `json:"sent"`
	Pending    int64    `json:"pending"`
	Acked      int64    `json:"acked"`
	Cancelled  int64    `json:"cancelled"`
	Dead       int64    `json:"dead"`
	Found      int64    `json:"found_pending"` // counted in the inboxes, one by one
	Bytes      int64    `json:"bytes"`         // of the pending messages, as the books say
	FoundBytes int64    `json:"found_bytes"`   // likewise, added up one by one
	Agents     int64    `json:"agents"`
	Rooms      int64    `json:"rooms"`
	Balanced   bool     `json:"balanced"`
	Problems   []string `json:"problems"`
}
