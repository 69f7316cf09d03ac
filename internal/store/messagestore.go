package store

import (
	"cmp"
	"context"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Draft is a message before the store gives it a number.
type Draft struct {
	From         c3po.AgentID
	To           c3po.AgentID
	Kind         c3po.Kind
	Thread       string // empty: a new thread, named after the message's own id
	Priority     c3po.Priority
	ExpectsReply bool
	Text         string
	Context      string
	Status       string // of a reply
	ContentType  string
	Metadata     []byte
	Attachments  []c3po.Attachment // files of the sender's, which must be complete
	HandedTo     c3po.AgentID
	Choices      []string      // of a question to a person
	Room         c3po.RoomName // of a post, and of mail that mentions a member
	Proof        *c3po.Proof   // of a person's word, if it was asked for
	GoesBackTo   *c3po.Word    // what a person wrote and the sender was given last; a reply follows from what it answers instead, if that goes back to a person
	// Key makes the send idempotent for KeyLife. Without one the same draft
	// (sender, recipient, thread as given, answered message, text, context) is the same message while
	// the first is pending, for RepeatWindow.
	Key string
	// Within is how soon the sender hopes for an answer; 0 if it does not say.
	// It is no part of what makes two drafts the same.
	Within time.Duration
	// Distinct says that its sender means another message, even with a text it sent
	// before: the budget of same texts does not count it.
	Distinct bool
	// Barred is why it may not be stored, unless it repeats what was stored before.
	Barred error
}

// SendStep is a Draft and the conditions under which it is accepted.
type SendStep struct {
	Draft
	Run        string // of the sender; SUPERSEDED if another run holds From. Empty passes
	Durability c3po.Durability
	RateLimit  int            // sends of From in the last 60 s; 0 = not counted
	Payer      string         // whose sends are counted instead of From's, if several callers share that id
	FailIfAway bool           // AGENT_UNAVAILABLE if the recipient is away or paused, or offline and does not start for this message
	Asked      c3po.AgentID   // the former name of To that was asked for; repeats are told by it
	Alias      string         // the bare name that was resolved to To, if it was
	Mailbox    bool           // To needs no registration (human); such mail does not expire
	Queue      bool           // To is the mailbox of a queue, which needs no registration
	Members    []c3po.AgentID // of that queue: whose state Stored tells
	PauseFrom  string         // pauses the sender for this reason in the same step (escalation)
	Chain      string         // whose budget it is charged to; empty: that of its thread
}

// Counted is whose sends of the last minute the step is held against.
func (s SendStep) Counted() c3po.AgentID { return cmp.Or(c3po.AgentID(s.Payer), s.From) }

// Fingerprint is the draft's, as it was asked for. Under a key the recipient is compared
// separately, by its name today.
func (s SendStep) Fingerprint() string {
	d := s.Draft
	d.To = cmp.Or(s.Asked, s.To)
	if d.Key != "" {
		d.To = ""
	}
	return Fingerprint(d, "")
}

// ReplyStep answers a message.
type ReplyStep struct {
	Draft      // To, Thread, Kind are taken from the stored message
	Run        string
	Durability c3po.Durability
	Answers    c3po.MessageID // the message that is answered
	ReplyTo    c3po.AgentID   // what the asker is called today, if it was renamed
	ResumeTo   bool           // a person answers: once, and the asker is no longer paused by this question
}

// Stored is what became of a send or reply.
type Stored struct {
	Message   c3po.Message // as its reader will see it; of a repeat, the first one
	Repeat    bool
	State     string         // of the message now: pending unless it is a repeat
	Recipient Record         // what Told tells of it; nothing of a queue
	Members   []Record       // of a queue: what Told tells of those that were named and are registered
	Acked     bool           // by this reply: the answered message was pending
	MovedTo   c3po.MessageID // by this reply: the answered message, in the inbox of the next agent
	Spent     *Spent         // with BUDGET_SPENT: why
	Meant     c3po.AgentID   // with KEY_CONFLICT: the recipient of the first message, if only that differs
	Fill      *Fill          // unless it is a repeat
	// SenderPaused is why the sender was paused when it sent this; empty if it was not, or
	// if this is a repeat or a reply.
	SenderPaused string
	Now          time.Time
}

// Fill is what the recipient's inbox, the sender's share of it, and the space
// hold once a message was stored.
type Fill struct {
	Messages, Bytes       int
	OwnMessages, OwnBytes int
	SpaceBytes            int64
	Spending
}

// Spending is what a message's sender has used of its budgets, this message included.
type Spending struct {
	ChainMessages, ChainBytes, ChainHops int
	ChainTokens                          int64 // of this hour, as far as they were reported; 0 if that is not limited
	PairMessages, PairBytes              int
	AgentMessages, AgentBytes            int
	Sent                                 int // within a minute; 0 if that is not limited
	SameTexts                            int // to the same recipient, with this one; 0 if that is not limited
}

// An Entry is a message with its facts.
type Entry struct {
	Message     c3po.Message // Redelivered and Deliveries are not set: they depend on the reader
	State       string
	Reason      string
	Facts       Facts
	Corrupt     bool // the body does not match its checksum; Message carries no text
	BodyGone    bool
	GivenBefore bool // of a post: the reader was given it before
	// Withheld is what a message says that is in a person's name and that no passkey has
	// confirmed. A store leaves it empty: it cannot know.
	Withheld string
}

// Facts are the recorded life of a message.
type Facts struct {
	Accepted   time.Time
	Durability c3po.Durability
	Bytes      int   // what it weighs as unacked mail
	KeyBytes   int   // the part of Bytes that an ended message does not weigh any more
	Expires    int64 // in lived seconds; 0 = never
	Served     []ServedFact
	Notified   []NotifiedNote // of any session of the recipient, with Seq >= the message's
	Received   *ServedFact
	Chain      string      // whose budget it was charged to, if not its thread's
	Claim      *c3po.Claim // the newest, of a queue's mail; it may have lapsed
	Ended      time.Time
	Cancelled  time.Time // also of a message that had ended as acked
	AskedBy    string    // the run that sent the ticket, also of the answer to it; empty if it had none
	Silent     time.Time // when who has read it ended its turn without an answer; zero if that did not happen
	Stalled    time.Time // since when the agent that has it makes no step; zero if it does
	Deadline   time.Time // by which the sender hoped for an answer; zero if it named none
	Answers    []c3po.Answered
	Used       []RunUsage   // what its answer has cost, by the run that said so
	Notices    []NoticeFact // of a question to a person, by name
}

// ServedFact is one reader of a message.
type ServedFact struct {
	Reader string
	Route  string
	First  time.Time
	Last   time.Time
	Times  int
	Cursor int64 // of the last answer
	Before bool  // before the message was delivered again
}

// InboxQuery selects unacked mail in reading order: urgent first, then by
// sequence.
type InboxQuery struct {
	Run   string // SUPERSEDED if another run holds the id; empty passes
	After int64  // reading position of the last entry of the page before; 0 = from the start
	Limit int
	Bytes int // stop after so many bytes of bodies, but never before the first entry
	// MinSeq is for only messages with a greater sequence; and of a role, all of them if
	// one was released since.
	MinSeq int64
	// Member reads the mailbox of a role: the run is that agent's, and what it
	// sent itself or what another agent holds is left out.
	Member c3po.AgentID
	// Quiet leaves out what a pause of the owner keeps back: all but a person's words.
	Quiet bool
}

// InboxPage is an answer to InboxQuery.
type InboxPage struct {
	Entries []Entry
	Next    int64  // reading position to go on from; 0 = this was the last page
	Count   int    // all unacked mail
	Rooms   bool   // RoomMail may have something too
	Paused  string // why the owner is paused; empty if it is not. The space's pause is included
	Seq     int64  // the space's sequence when the page was read
	Now     time.Time
}

// NextQuery asks for the next message a reader has not been given.
type NextQuery struct {
	Run    string
	Reader string
	MinSeq int64 // skip everything up to here
	// Positioned says that MinSeq is where the reader itself says it is: an
	// answer that told it a later position never arrived, and what it carried
	// is given again.
	Positioned bool
	Given      []c3po.MessageID // given to this reader by this node, perhaps not yet noted
	Incoming   bool             // leave replies out
}

// NextMessage is an answer to NextQuery.
type NextMessage struct {
	Entry *Entry // nil if there is none
	Count int    // all unacked mail
	Rooms bool   // RoomMail may have something too
	Seq   int64  // all unacked mail up to here was given to the reader, Entry included
	Now   time.Time
	// Looked is how many messages were looked at. If they were many, a GivenNote
	// spares the next look most of them.
	Looked int
	Node   string // at which the owner waits, or did; empty if it was detached
	Paused string // why the owner, an agent, is paused, as in an InboxPage; Entry is then a person's words or nil
}

// AckOutcome is what became of one id.
type AckOutcome string

// The outcomes of an ack.
const (
	AckDone     AckOutcome = "acked"
	AckAlready  AckOutcome = "already"
	AckUnknown  AckOutcome = "unknown"
	AckNotYours AckOutcome = "not_yours"
	AckStale    AckOutcome = "stale" // another agent has claimed it since
)

type messageStore interface {
	// Send stores a message. Checks in this order: SUPERSEDED, the repeat of an
	// earlier send (KEY_CONFLICT if the same key had another draft), AGENT_UNAVAILABLE
	// for what an agent sends to another while the space is paused, AGENT_NOT_FOUND, an alias that pointed elsewhere within NameLife
	// (INVALID_REQUEST naming both), AGENT_UNAVAILABLE, RATE_LIMITED, INBOX_FULL,
	// STORE_FULL for a space that holds SpaceBytes, BUDGET_SPENT. A spent chain is paused until ResumeChain. What the system or a
	// person writes, and what is written to a person, is on no account, and has a place
	// in a full space. A file that From has not uploaded whole is INVALID_REQUEST.
	Send(ctx context.Context, space c3po.Space, step SendStep) (Stored, error)
	// Reply stores an answer, acks the answered message if it is pending, and
	// records the answer with it. Only its recipient may: FORBIDDEN. An unknown
	// message is INVALID_REQUEST, one whose sender takes no mail (a bounce)
	// AGENT_NOT_FOUND, one that was cancelled INVALID_REQUEST. Replies are never
	// rate limited. A queue's message is answered by who may ack it (AckClaimed):
	// FORBIDDEN for everybody else. With HandedTo the answered message is also put
	// into the inbox of that agent (AGENT_NOT_FOUND, INBOX_FULL), once
	// (INVALID_REQUEST); what is answered there answers the first message. In a full
	// space an answer is stored if it is no longer than the message it acks.
	Reply(ctx context.Context, space c3po.Space, step ReplyStep) (Stored, error)
	// Ack ends pending messages of the caller's own inbox. Outcomes are in the
	// order of ids. It works when the store is full.
	Ack(ctx context.Context, space c3po.Space, owner c3po.AgentID, run string, ids []c3po.MessageID) ([]AckOutcome, error)
	// Received records that the reader's client has taken the messages; those
	// that answer a message of the owner's and expect no reply are acked by it
	// (AckDone), others are AckAlready if known.
	Received(ctx context.Context, space c3po.Space, owner c3po.AgentID, reader, route string, ids []c3po.MessageID) ([]AckOutcome, error)

	// Reads.

	Inbox(ctx context.Context, space c3po.Space, owner c3po.AgentID, q InboxQuery) (InboxPage, error)
	Next(ctx context.Context, space c3po.Space, owner c3po.AgentID, q NextQuery) (NextMessage, error)
	// Message returns one message, pending or ended; nil if it is unknown. Here and
	// in all other reads of messages by id a former name of the recipient will do.
	Message(ctx context.Context, space c3po.Space, id c3po.MessageID) (*Entry, error)
	// Answers returns the replies to a message in order; the first answer also
	// when it has ended. AckUnknown-like: an unknown id gives INVALID_REQUEST.
	Answers(ctx context.Context, space c3po.Space, id c3po.MessageID) ([]Entry, error)
	// Thread returns up to limit entries with a sequence above after, oldest first.
	Thread(ctx context.Context, space c3po.Space, thread string, after int64, limit int) ([]Entry, error)
	// ThreadSpans returns how each thread begins and ends, in the order asked for. A
	// thread that is unknown, or of which nothing is left, has no entries.
	ThreadSpans(ctx context.Context, space c3po.Space, threads []string) ([]ThreadSpan, error)
	// Kept looks at up to limit messages, thread by thread, and returns those with a sequence
	// below the given one. It begins behind a place that it gave before; the place it
	// ends at is empty if that was all.
	Kept(ctx context.Context, space c3po.Space, after string, below int64, limit int) ([]KeptEntry, string, error)
}

// A KeptEntry is a message and its place among all.
type KeptEntry struct {
	Entry
	Place string
}

// A ThreadSpan is a thread without what is between its ends.
type ThreadSpan struct {
	First, Last *Entry // the same if there is one
	Count       int
}

// Add takes an entry that is an end of the thread.
func (t *ThreadSpan) Add(e Entry) {
	if t.First == nil || e.Message.Seq < t.First.Message.Seq {
		t.First = &e
	}
	if t.Last == nil || e.Message.Seq > t.Last.Message.Seq {
		t.Last = &e
	}
}
