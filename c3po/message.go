package c3po

import (
	"encoding/json"
	"time"
)

// Priority orders an inbox: urgent mail is read first.
type Priority string

// The priorities.
const (
	Normal Priority = "normal"
	Urgent Priority = "urgent"
)

// Kind says what a message is.
type Kind string

// The kinds of message.
const (
	KindMessage    Kind = "message"
	KindReply      Kind = "reply"
	KindBounce     Kind = "bounce" // a message was not delivered
	KindNotice     Kind = "notice" // something else its sender should know
	KindEscalation Kind = "escalation"
	KindApproval   Kind = "approval"  // asks the person to allow a tool; its metadata is an Approval
	KindCancelled  Kind = "cancelled" // what was read before has been withdrawn
	KindPost       Kind = "post"      // in a room
	KindBroadcast  Kind = "broadcast" // to everybody, or to an audience
)

// A Message as its reader or sender sees it. A reply carries its text in
// Response and what it answers in MessageID; everything else carries its text
// in Message.
type Message struct {
	ID           MessageID       `json:"id,omitempty" always:"true"`
	MessageID    MessageID       `json:"message_id,omitempty"`
	FromAgent    AgentID         `json:"from_agent,omitempty" always:"true"`
	ToAgent      AgentID         `json:"to_agent,omitempty" enum:"any"` // an agent, or agent#room of a post
	Room         RoomName        `json:"room,omitempty"`                // of a post, and of mail that mentions a member
	Kind         Kind            `json:"kind,omitempty"`
	Message      string          `json:"message,omitempty"`
	Response     string          `json:"response,omitempty"`
	Context      string          `json:"context,omitempty"`
	Status       string          `json:"status,omitempty"`
	Timestamp    time.Time       `json:"timestamp,omitzero" always:"true"`
	Thread       string          `json:"thread,omitempty"`
	Priority     Priority        `json:"priority,omitempty"`
	ExpectsReply bool            `json:"expects_reply,omitempty"`
	ContentType  string          `json:"content_type,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Attachments  []Attachment    `json:"attachments,omitempty"` // files that came with it
	HandedTo     AgentID         `json:"handed_to,omitempty"`
	HandedFrom   AgentID         `json:"handed_from,omitempty"` // who had this message before and passed it on
	Handover     *Handover       `json:"handover,omitempty"`    // what that agent said to it
	Ticket       MessageID       `json:"ticket,omitempty"`      // of a message that was handed over: the id its sender knows it by
	Quiet        bool            `json:"quiet,omitempty"`       // an answer to an answer that asked nothing: it wakes nobody
	Seq          int64           `json:"seq,omitempty"`
	EarlierRun   bool            `json:"earlier_run,omitempty"` // an answer to what an earlier run of this agent asked
	Redelivered  bool            `json:"redelivered,omitempty"`
	Claim        *Claim          `json:"claim,omitempty"` // of a role's mail: who holds it
	Deliveries   int             `json:"deliveries,omitempty"`
	Choices      []string        `json:"choices,omitempty"`      // of a question to a person
	Deadline     time.Time       `json:"deadline,omitzero"`      // of a question to a person: when it is asked again
	BodyGone     bool            `json:"body_gone,omitempty"`    // the text was trimmed; the record is still there
	Proof        *Proof          `json:"proof,omitempty"`        // a person confirmed it with a passkey
	GoesBackTo   *Word           `json:"goes_back_to,omitempty"` // what a person wrote and this follows from
	Warning      string          `json:"warning,omitempty"`      // to who wrote it, when it was stored: something is nearly full or spent
}

// A Handover is what an agent said when it handed a message over, as the next one reads it.
type Handover struct {
	Response string          `json:"response"`
	Metadata json.RawMessage `json:"metadata,omitempty"` // files names those that it was editing
}

// Text is what the sender wrote, whichever field carries it.
func (m Message) Text() string {
	if m.Kind == KindReply {
		return m.Response
	}
	return m.Message
}

// AsksPerson says that the message is a question that only a person can answer.
func (m Message) AsksPerson() bool { return m.Kind == KindEscalation || m.Kind == KindApproval }

// Durability says what "accepted" was worth when it was said.
type Durability string

// The two durabilities.
const (
	OnDisk   Durability = "fsync"
	InMemory Durability = "memory"
)

// SendInput is a message to be sent.
type SendInput struct {
	Target       string          `json:"target" jsonschema:"An agent's id, its name if only one has it, or role:NAME for any agent with that capability"`
	Message      string          `json:"message" jsonschema:"At most 50000 characters"`
	Context      string          `json:"context,omitempty" jsonschema:"Background the other agent needs"`
	Priority     Priority        `json:"priority,omitempty" jsonschema:"Default normal"`
	ExpectsReply *bool           `json:"expects_reply,omitempty" jsonschema:"Default true"`
	WaitSeconds  int             `json:"wait_seconds,omitempty" jsonschema:"Wait for the answer in this call" range:"0,3600"`
	Thread       string          `json:"thread,omitempty" jsonschema:"Thread to go on with; a new one if left out"`
	ClientKey    string          `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never sends twice"`
	Metadata     json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB that travels with the message"`
	ContentType  string          `json:"content_type,omitempty" jsonschema:"Type of the message text, for example application/json"`
	IfAway       string          `json:"if_away,omitempty" jsonschema:"queue (default) or fail when the agent is away" enum:"queue,fail"`
	DeadlineMS   int             `json:"deadline_ms,omitempty" jsonschema:"Milliseconds after which an unanswered message counts as timed out; a later answer still counts" range:"0"`
	Attach       []FileID        `json:"attach,omitempty" jsonschema:"Ids of files you have uploaded, which travel with the message"`
}

// A Receipt says that a message was stored, how safely, and what happens next.
type Receipt struct {
	Message      `always:"to_agent,status"`
	Durability   Durability   `json:"durability"`
	Recipient    Status       `json:"recipient"`
	Reachability Reachability `json:"reachability"`
	Notice       string       `json:"notice,omitempty"`
	Reply        *Message     `json:"reply,omitempty"` // with wait_seconds: the answer
	Wait         *WaitOutcome `json:"wait,omitempty"`  // with wait_seconds: why there is none
}

// A WaitOutcome is the end of a wait that brought nothing. It is a result.
type WaitOutcome struct {
	Status       string    `json:"status" enum:"timeout,retry,cancelled,expired,died,offline,superseded,paused,waiting_for_human,unanswered"`
	Code         Code      `json:"code"`
	MessageID    MessageID `json:"message_id,omitempty"`
	Message      string    `json:"message"`
	Suggestion   string    `json:"suggestion"`
	RetryAfterMS int       `json:"retry_after_ms,omitempty"`
	Asked        *Asked    `json:"asked,omitempty"` // for who waits on; only if it was asked for
}

// The words a wait that brought nothing ends with.
const (
	WaitTimeout = "timeout"
	WaitRetry   = "retry"

	// Of a wait for an answer: something happened to the ticket, or to the agent
	// that has it, so that waiting on is no use now.
	WaitCancelled  = "cancelled"
	WaitExpired    = "expired"
	WaitDied       = "died"
	WaitOffline    = "offline"
	WaitSuperseded = "superseded"
	WaitPaused     = "paused"
	WaitForHuman   = PausedForHuman // the agent has asked its person
	WaitUnanswered = "unanswered"   // the agent has ended its turn without an answer
)

// GetMessagesInput pages through unacked mail.
type GetMessagesInput struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most"`
	LeftBy string `json:"left_by,omitempty" jsonschema:"Instead of yours, the mail that an ended session beside yours has left; whoami names it"`
}

// A MessageList is one page of messages.
type MessageList struct {
	Messages []Message `json:"messages"`
	Next     string    `json:"next,omitempty"`
	Count    int       `json:"count"`            // all there are, not only on this page
	Paused   string    `json:"paused,omitempty"` // of an inbox: why its agent is paused
}

// Rows is the part that REST answers as a bare array.
func (l *MessageList) Rows() any { return &l.Messages }

// Cursor is where the next page starts.
func (l *MessageList) Cursor() *string { return &l.Next }

// ReplyInput answers a message.
type ReplyInput struct {
	MessageID    MessageID       `json:"message_id" jsonschema:"Id of the message you answer"`
	Response     string          `json:"response" jsonschema:"Your answer, at most 50000 characters"`
	Status       string          `json:"status,omitempty" jsonschema:"Default success" enum:"success,error,handed_over"`
	ExpectsReply bool            `json:"expects_reply,omitempty" jsonschema:"Whether you expect an answer to this answer"`
	HandedTo     AgentID         `json:"handed_to,omitempty" jsonschema:"With handed_over: the agent that takes it on"`
	ClientKey    string          `json:"client_key,omitempty" jsonschema:"Idempotency key: the same key never replies twice"`
	Metadata     json.RawMessage `json:"metadata,omitempty" jsonschema:"A JSON object of at most 4 KiB that travels with the answer"`
	ContentType  string          `json:"content_type,omitempty" jsonschema:"Type of the answer's text, for example application/json"`
	Attach       []FileID        `json:"attach,omitempty" jsonschema:"Ids of files you have uploaded, which travel with the answer"`
}

// The statuses of a reply.
const (
	ReplySuccess    = "success"
	ReplyError      = "error"
	ReplyHandedOver = "handed_over"
)

// WaitInput says what to wait for.
type WaitInput struct {
	MessageID MessageID `json:"message_id,omitempty" jsonschema:"Wait for the answer to this message; any mail if left out"`
	Timeout   int       `json:"timeout,omitempty" jsonschema:"Seconds to wait, 1-3600, default 60" range:"1,3600"`
	Kind      string    `json:"kind,omitempty" jsonschema:"incoming leaves answers out" enum:"incoming"`
	After     *int64    `json:"after,omitempty" jsonschema:"Only mail after this sequence: the seq of the last answer"`
	// Asked joins several waits for one answer to a single one. Tools do not declare
	// it: a model that waits anew has read how the last wait ended.
	Asked *Asked `json:"asked,omitempty" jsonschema:"The asked of the outcome before, so that what happened to the agent in between ends this wait too; {} to be given one"`
}

// Asked is what was known of the agent that has a ticket when a wait for the
// answer ended.
type Asked struct {
	ID       AgentID `json:"id,omitempty"`
	Epoch    int64   `json:"epoch,omitempty"`
	Online   bool    `json:"online,omitempty"`
	Attached bool    `json:"attached,omitempty"`
	Dead     bool    `json:"dead,omitempty"`
	Paused   bool    `json:"paused,omitempty"`
	Silent   bool    `json:"silent,omitempty"`
}

// KindIncoming is the WaitInput.Kind that leaves replies out.
const KindIncoming = "incoming"

// A WaitResult is either a message or the reason there is none. Both forms are
// flat on the wire, as the API reference prints them.
type WaitResult struct {
	Message
	Outcome *WaitOutcome `json:"-"`
	Unacked int          `json:"-"` // all unacked mail, this one included
	Cursor  int64        `json:"-"` // everything up to here was served to this session
}

// A Delivery is a message that a wait brought.
type Delivery struct {
	Message
	Unacked int   `json:"unacked"` // all unacked mail, this one included
	Seq     int64 `json:"seq"`     // where to go on waiting from, after everything this session was given
}

// A WaitEnd is the end of a wait that brought nothing, and where to go on.
type WaitEnd struct {
	*WaitOutcome
	Seq int64 `json:"seq"`
}

// Forms are the two it has on the wire.
func (WaitResult) Forms() []any { return []any{Delivery{}, WaitEnd{}} }

// Form is the one it has: the message with its counts, or the outcome alone.
func (w WaitResult) Form() any {
	if w.Outcome != nil {
		return WaitEnd{w.Outcome, w.Cursor}
	}
	return Delivery{w.Message, w.Unacked, w.Cursor}
}

// MarshalJSON writes its form.
func (w WaitResult) MarshalJSON() ([]byte, error) { return json.Marshal(w.Form()) }

// UnmarshalJSON reads either form.
func (w *WaitResult) UnmarshalJSON(data []byte) error {
	var form struct {
		Code    Code  `json:"code"`
		Unacked int   `json:"unacked"`
		Seq     int64 `json:"seq"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*w = WaitResult{Unacked: form.Unacked, Cursor: form.Seq}
	if form.Code != "" {
		return json.Unmarshal(data, &w.Outcome)
	}
	return json.Unmarshal(data, &w.Message)
}

// AckInput names messages that were dealt with.
type AckInput struct {
	MessageIDs []MessageID `json:"message_ids" jsonschema:"Ids of messages you have dealt with"`
}

// AckResult says what became of each id.
type AckResult struct {
	Acked    []MessageID `json:"acked"`
	Already  []MessageID `json:"already"`
	Unknown  []MessageID `json:"unknown"`
	NotYours []MessageID `json:"not_yours"`
	Stale    []MessageID `json:"stale,omitempty"` // of a role: another agent has claimed it since you did
	// Undecided are those of a mailbox that failed after others were done: call
	// again with them. Notice says why.
	Undecided []MessageID `json:"undecided,omitempty" jsonschema:"Of a mailbox that failed after others were done: call again with them"`
	Notice    string      `json:"notice,omitempty"` // what failed after the change was stored
}

// ThreadInput names a thread, or any message of it.
type ThreadInput struct {
	Thread string `json:"thread" jsonschema:"Thread id, or the id of a message in it"`
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many at the most"`
}

// ReceivedInput reports what a client has provably taken.
type ReceivedInput struct {
	MessageIDs []MessageID  `json:"message_ids,omitempty" jsonschema:"Messages whose text the client has taken"`
	Silent     []MessageID  `json:"silent,omitempty" jsonschema:"Messages that the session has read, whose sender expects an answer, and without answering which its turn has ended"`
	Stalled    []MessageID  `json:"stalled,omitempty" jsonschema:"Messages that the session works on, and has made no step for too long"`
	Moves      []MessageID  `json:"moves,omitempty" jsonschema:"Messages that were reported as stalled, and that the session goes on with"`
	Notified   int64        `json:"notified,omitempty" jsonschema:"The session was told of all mail up to this sequence"`
	Used       []Used       `json:"used,omitempty" jsonschema:"What the session has used so far for messages it was given"`
	Quota      *QuotaReport `json:"quota,omitempty" jsonschema:"The session's model is refused to it because its quota is used up, or no longer is"`
	// Started is for who resumes a closed session; with it nothing but Notified counts.
	Started string `json:"started,omitempty" jsonschema:"What was started because of the mail up to notified: the program, by what, and with which rights"`
}

// Pending is the answer of /api/pending and /api/wait.
type Pending struct {
	Count    int       `json:"count"` // all unacked mail
	Messages []Message `json:"messages"`
	Seq      int64     `json:"seq"`
	Next     string    `json:"next,omitempty"` // the cursor of the next page
	// RoomUnread is what was said in the agent's rooms and not acked. It is no mail:
	// it is in neither of the two above.
	RoomUnread int     `json:"room_unread,omitempty" jsonschema:"What was said in rooms and is not acked; none of it is in count or messages"`
	Paused     *string `json:"paused,omitempty"` // for who said what it knows of its pause: why it is paused, empty if it is not
}

// PendingInput asks for unacked mail without recording that it was seen.
type PendingInput struct {
	Timeout int    `json:"timeout,omitempty" jsonschema:"Seconds to wait for mail; 0 answers at once"`
	After   *int64 `json:"after,omitempty" jsonschema:"Only mail after this sequence"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"Where to go on: the next of an earlier answer"`
	Limit   int    `json:"limit,omitempty" jsonschema:"How many at the most"`
	// Paused is for who stays silent while its agent is paused.
	Paused *string `json:"paused,omitempty" jsonschema:"Why the agent is paused as far as you know, empty if it is not; a wait also stops when that has changed"`
	// Asleep is what clients say that do not know of State.
	Asleep bool `json:"asleep,omitempty" jsonschema:"Mail that comes now does not wake you: you read it when your person writes to you"`
	// State is for who waits on behalf of a session.
	State SessionState `json:"state,omitempty" jsonschema:"What the session that you wait for does: idle, working, failed, dialog, unarmed, off, unattended, unknown or closed"`
}

// PendingResult is pending mail, or the reason a wait ended without any.
type PendingResult struct {
	Pending
	Outcome *WaitOutcome `json:"-"`
}

// Forms are the two it has on the wire.
func (PendingResult) Forms() []any { return []any{Pending{}, WaitOutcome{}} }

// Form is the one it has: the mail, or of a draining coordinator the word to retry.
func (p PendingResult) Form() any {
	if p.Outcome != nil && p.Outcome.Status == WaitRetry {
		return p.Outcome
	}
	return p.Pending
}

// MarshalJSON writes its form.
func (p PendingResult) MarshalJSON() ([]byte, error) { return json.Marshal(p.Form()) }

// UnmarshalJSON reads either form.
func (p *PendingResult) UnmarshalJSON(data []byte) error {
	var form struct {
		Status string `json:"status"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*p = PendingResult{}
	if form.Status != "" {
		return json.Unmarshal(data, &p.Outcome)
	}
	return json.Unmarshal(data, &p.Pending)
}

// AdviseQueue is what a refusal of a message to an agent that is away begins its advice with.
const AdviseQueue = `Send with if_away "queue": it is kept until the agent reads it.`
