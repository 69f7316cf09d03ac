package store

import (
	"encoding/json"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Moved is one thing that goes from one coordinator to another; one field is
// set. The JSON of these types is what `c3po export` writes: docs/operations/operations.md
// describes it, and move.Format counts its versions.
//
// Numbers of a space mean nothing in another one, so there are none: order is
// the order of what is moved, lifetimes are what is left of them.
type Moved struct {
	Agent   *MovedAgent   `json:"agent,omitempty"`
	Room    *MovedRoom    `json:"room,omitempty"`
	Message *MovedMessage `json:"message,omitempty"`
	Post    *MovedPost    `json:"post,omitempty"`
	Member  *MovedMember  `json:"member,omitempty"`
}

// A MovedAgent is an agent without its run: any caller that may use its name takes it
// over.
type MovedAgent struct {
	ID           c3po.AgentID      `json:"id"`
	Former       []c3po.AgentID    `json:"former,omitempty"` // what it was called before, the latest first
	RegisteredAt time.Time         `json:"registered_at"`
	SeenAt       time.Time         `json:"seen_at"`
	Name         string            `json:"name,omitempty"`
	Capabilities []string          `json:"capabilities,omitempty"`
	Type         string            `json:"type,omitempty"`
	Cwd          string            `json:"cwd,omitempty"`
	Host         string            `json:"host,omitempty"`
	Metadata     json.RawMessage   `json:"metadata,omitempty"`
	Client       string            `json:"client,omitempty"`
	Availability c3po.Availability `json:"availability,omitempty"`
	Task         string            `json:"task,omitempty"`
	Paused       string            `json:"paused,omitempty"`
	Asks         []c3po.MessageID  `json:"asks,omitempty"` // the open questions it waits for a person with
}

// A MovedRoom is a room before anything was said in it.
type MovedRoom struct {
	Name       c3po.RoomName   `json:"name"`
	Creator    c3po.AgentID    `json:"creator"`
	Visibility c3po.Visibility `json:"visibility"`
	Created    time.Time       `json:"created"`
	Invited    []c3po.AgentID  `json:"invited,omitempty"`
}

// A MovedMessage is a message with its facts. What it was, when, and what became of
// it stays; what only means something to the coordinator it comes from does not.
type MovedMessage struct {
	ID           c3po.MessageID  `json:"id"`
	Kind         c3po.Kind       `json:"kind"`
	Thread       string          `json:"thread"`
	Priority     c3po.Priority   `json:"priority,omitempty"`
	ExpectsReply bool            `json:"expects_reply,omitempty"`
	Quiet        bool            `json:"quiet,omitempty"`
	Accepted     time.Time       `json:"accepted"`
	Durability   c3po.Durability `json:"durability"`
	Bytes        int             `json:"bytes"`
	State        string          `json:"state"`
	Reason       string          `json:"reason,omitempty"`
	Ended        time.Time       `json:"ended,omitzero"`
	Cancelled    time.Time       `json:"cancelled,omitzero"`
	Silent       time.Time       `json:"silent,omitzero"`
	// Life is how many lived seconds are left until it dies unacked, or, if it
	// has ended, until it is forgotten; 0 = it does not die.
	Life         int64           `json:"life,omitempty"`
	Deadline     time.Time       `json:"deadline,omitzero"`
	DeadlineOpen bool            `json:"deadline_open,omitempty"` // that it passed was not said yet
	AskedBy      string          `json:"asked_by,omitempty"`
	Chain        string          `json:"chain,omitempty"`
	InReplyTo    c3po.MessageID  `json:"in_reply_to,omitempty"`
	Ticket       c3po.MessageID  `json:"ticket,omitempty"`
	HandedFrom   c3po.AgentID    `json:"handed_from,omitempty"`
	Answers      []c3po.Answered `json:"answers,omitempty"`
	Claim        *c3po.Claim     `json:"claim,omitempty"`
	Served       []MovedServed   `json:"served,omitempty"`
	Received     *MovedServed    `json:"received,omitempty"`
	BodyGone     bool            `json:"body_gone,omitempty"`
	Body         MovedBody       `json:"body,omitzero"`
}

// MovedBody is what a message or a post says.
type MovedBody struct {
	Text        string          `json:"text,omitempty"`
	Context     string          `json:"context,omitempty"`
	Status      string          `json:"status,omitempty"`
	ContentType string          `json:"content_type,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	HandedTo    c3po.AgentID    `json:"handed_to,omitempty"`
	Choices     []string        `json:"choices,omitempty"`
	Room        c3po.RoomName   `json:"room,omitempty"`
	// Attachments are named; their bytes stay where they are.
	Attachments []c3po.Attachment `json:"attachments,omitempty"`
}

// IsZero says that nothing is said.
func (b MovedBody) IsZero() bool {
	return b.Text == "" && b.Context == "" && b.Status == "" && b.ContentType == "" && len(b.Metadata) == 0 && b.HandedTo == "" && len(b.Choices) == 0 && b.Room == "" && len(b.Attachments) == 0
}

// Draft is the body as the store keeps it.
func (b MovedBody) Draft() Draft {
	return Draft{Text: b.Text, Context: b.Context, Status: b.Status, ContentType: b.ContentType, Metadata: b.Metadata, HandedTo: b.HandedTo, Choices: b.Choices, Room: b.Room, Attachments: b.Attachments}
}

// MovedServed is one reader of a message.
type MovedServed struct {
	Reader string    `json:"reader"`
	Route  string    `json:"route,omitempty"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last,omitzero"`
	Times  int       `json:"times,omitempty"`
	Before bool      `json:"before,omitempty"`
}

// A MovedPost is one entry of a room's log.
type MovedPost struct {
	ID         c3po.MessageID  `json:"id"`
	Kind       c3po.Kind       `json:"kind"`
	Accepted   time.Time       `json:"accepted"`
	Durability c3po.Durability `json:"durability"`
	Bytes      int             `json:"bytes"`
	Mailed     []c3po.AgentID  `json:"mailed,omitempty"` // who has it as mail too
	Body       MovedBody       `json:"body,omitzero"`
}

// A MovedMember is an agent's place in a room.
type MovedMember struct {
	Room   c3po.RoomName    `json:"room"`
	Agent  c3po.AgentID     `json:"agent"`
	Read   c3po.MessageID   `json:"read,omitempty"` // the last post it has read; none if empty
	Notify c3po.Notify      `json:"notify,omitempty"`
	Skips  []c3po.MessageID `json:"skips,omitempty"` // later ones that it is not shown: its own, and those it has as mail
}

// An Origin is what a store remembers an imported thing by, so that importing it
// again changes nothing, whatever became of it since.
type Origin string

// ImportOutcome is what became of one thing.
type ImportOutcome string

// The outcomes of an import.
const (
	Imported        ImportOutcome = "imported"
	ImportedAlready ImportOutcome = "already" // by an earlier import, or it was there
	ImportTaken     ImportOutcome = "taken"   // something else has this name or number there
)
