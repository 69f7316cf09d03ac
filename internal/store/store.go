package store

import (
	"cmp"
	"context"
	"time"

	"github.com/c3po-dev/c3po"
)

const (
	// Schema is the version of what is stored, shown by server_info.
	Schema = 1
	// MinReader is the oldest schema whose coordinators understand what this one
	// stores. It rises a release after Schema, so that the two versions of a
	// rolling upgrade work beside each other, and the way back is open.
	MinReader = 1
)

// Store keeps everything. Each method is one atomic step: it happens whole or
// not at all, and an error means that nothing changed, unless its code is
// UNKNOWN_OUTCOME. Methods that write are idempotent by id or key, so a caller
// may repeat them. Methods under "reads" never write.
//
// Time: a store stamps with its own clock (Redis TIME; for tests a clock that
// was passed in when the store was opened) and reports the time it used.
// Lifetimes are counted in lived seconds, which only Tick advances.
type Store interface {
	agentStore
	presenceStore
	messageStore
	ticketStore
	noticeStore
	queueStore
	roomStore
	flowStore
	reaperStore
	retirementStore
	renameStore
	letterStore
	eventStore
}

// ---------------------------------------------------------------- agents

// A Record is what is kept of an agent.
type Record struct {
	ID           c3po.AgentID
	RegisteredAt time.Time
	RegSeq       int64  // registration order within the space
	Run          string // what holds the id; empty for the one anonymous run
	Session      string
	Epoch        int64
	Seen         time.Time
	Attached     bool              // a live node holds a connection or wait of it
	State        c3po.SessionState // of its session; empty unless it is attached
	StateAt      time.Time         // since when
	Died         time.Time         // when its host saw that the process of the run has ended; zero if it has not
	Left         bool              // it ended its session, hung up or died, and was not seen since
	Watched      bool              // this node sees the process it declared run; no store keeps that
	Online       bool              // attached; or seen within the online window, if no node claims it; and not gone
	Profile      Profile
	Availability c3po.Availability // "" = available
	CurrentTask  string
	Paused       string // why; empty if not paused. The space's pause is included
	Gone         bool   // it ended its session itself, or its host saw its process end
	Rooms        []c3po.RoomName
	Former       []c3po.AgentID // what it was called before, the latest first
}

// A Profile is what an agent says of itself when it registers.
type Profile struct {
	Name         string
	Capabilities []string
	Type         string
	Cwd          string
	Host         string
	PID          int
	PIDStart     int64  // of that process: it is replaced with it
	Metadata     []byte // JSON object or nil
	Heartbeat    int    // seconds; NoHeartbeat takes back one that was declared
	Client       string
}

// NoHeartbeat is an interval that a profile takes back.
const NoHeartbeat = -1

// RegisterStep asks for an id.
type RegisterStep struct {
	Want    c3po.AgentID
	Run     string
	Session string
	Epoch   int64
	// Explicit is a call of register_agent: it may start over after SUPERSEDED,
	// and what its Profile says replaces what is stored. A field that is zero says
	// nothing; capabilities that are empty and not nil are none.
	Explicit bool
	Profile  Profile
	// Agents covers the ids that may be given; all if empty.
	Agents c3po.Pattern
}

// Registration is the id that was given.
type Registration struct {
	Record Record
	Unread int
	Owed   int // dead letters that come back with their recipient
	Now    time.Time
}

type agentStore interface {
	// Register gives the caller an id. With an empty Run it is Want itself,
	// created if need be, never a collision, and the stored run is untouched.
	// Otherwise, in this order:
	//  1. the id among Want, Want-2, Want-3, … that this run already holds;
	//  2. if not Explicit and this run was ousted from Want, or Epoch is given and lower
	//     than that of Want while another run holds it: SUPERSEDED;
	//  3. the id this session last had (if it derives from Want), if its run is not online;
	//  4. the first of Want, Want-2, … that does not exist, has the anonymous
	//     run, or whose run is not online. Taking an existing id over raises its
	//     epoch; the run before is ousted.
	// An id that Agents does not cover is never given: FORBIDDEN if no other is left,
	// or if the caller follows an agent that is called so now.
	// The agent is seen now and no longer gone. A non-explicit call of a known
	// agent leaves its profile alone (Client is always stored). It works for an
	// agent that exists when the store is full; a new one is STORE_FULL.
	Register(ctx context.Context, space c3po.Space, step RegisterStep) (Registration, error)
	// Unregister ends the session: offline at once. It reports whether there was one.
	// A run other than the one that holds the id ends nothing.
	Unregister(ctx context.Context, space c3po.Space, id c3po.AgentID, run string) (bool, error)
	// Die says that the process of a run has ended: the agent is offline at once. It
	// reports whether the run held the id and was not known to be dead. The next run
	// that registers ends it. It works when the store is full.
	Die(ctx context.Context, space c3po.Space, id c3po.AgentID, run string) (bool, error)
	// DieDeclared says that the process an agent declared is not there: the agent is
	// offline at once, until it calls again. Only one that holds a connection stays, if
	// the process never was there: it lives elsewhere. It reports whether that
	// is still the process it declares, and was not known to be dead. Declaring one
	// again ends it.
	DieDeclared(ctx context.Context, space c3po.Space, id c3po.AgentID, process Declared) (bool, error)
	// SetStatus stores availability and task.
	SetStatus(ctx context.Context, space c3po.Space, id c3po.AgentID, run string, a c3po.Availability, task string) error
	// SetPaused pauses (why not empty) or resumes an agent; an empty id means the
	// whole space. AGENT_NOT_FOUND if there is no such agent. It works when the
	// store is full.
	SetPaused(ctx context.Context, space c3po.Space, id c3po.AgentID, why string) error

	// Reads.

	// Agents returns the records of ids, in that order, leaving out unknown ones.
	Agents(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]Record, error)
	// AgentPage returns up to limit records that registered after RegSeq after.
	AgentPage(ctx context.Context, space c3po.Space, after int64, limit int) ([]Record, error)
	// Named returns up to limit ids whose bare name is name.
	Named(ctx context.Context, space c3po.Space, name string, limit int) ([]c3po.AgentID, error)
	// Neighbours returns up to limit ids whose bare names sort just before and
	// after name, and Recent the ids seen last.
	Neighbours(ctx context.Context, space c3po.Space, name string, limit int) ([]c3po.AgentID, error)
	Recent(ctx context.Context, space c3po.Space, limit int) ([]c3po.AgentID, error)
	// OnlineCount is the number of agents online.
	OnlineCount(ctx context.Context, space c3po.Space) (int, error)
}

// -------------------------------------------------------------- presence

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
	// waits at the node any more, which changes nothing if it is elsewhere by now.
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

// -------------------------------------------------------------- messages

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
	HandedTo     c3po.AgentID
	Choices      []string      // of a question to a person
	Room         c3po.RoomName // of a post, and of mail that mentions a member
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
	// Unpaid says that its sender's token has spent its budget: BUDGET_SPENT, unless it
	// repeats what was stored before.
	Unpaid bool
}

// SendStep is a Draft and the conditions under which it is accepted.
type SendStep struct {
	Draft
	Run        string // of the sender; SUPERSEDED if another run holds From. Empty passes
	Durability c3po.Durability
	RateLimit  int          // sends of From in the last 60 s; 0 = not counted
	Payer      string       // whose sends are counted instead of From's, if several callers share that id
	FailIfAway bool         // AGENT_UNAVAILABLE if the recipient is offline, away or paused
	Asked      c3po.AgentID // the former name of To that was asked for; repeats are told by it
	Alias      string       // the bare name that was resolved to To, if it was
	Mailbox    bool         // To needs no registration (human); such mail does not expire
	Queue      bool         // To is the mailbox of a queue, which needs no registration
	PauseFrom  string       // pauses the sender for this reason in the same step (escalation)
	Chain      string       // whose budget it is charged to; empty: that of its thread
}

// Counted is whose sends of the last minute the step is held against.
func (s SendStep) Counted() c3po.AgentID { return cmp.Or(c3po.AgentID(s.Payer), s.From) }

// Fingerprint is that of the draft as it was asked for. Under a key the recipient is
// compared apart, by what it is called today.
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
	ResumeTo   bool           // a person answered: the asker is no longer paused by this question
}

// Stored is what became of a send or reply.
type Stored struct {
	Message   c3po.Message // as its reader will see it; of a repeat, the first one
	Repeat    bool
	State     string // of the message now: pending unless it is a repeat
	Recipient Record
	Acked     bool           // by this reply: the answered message was pending
	MovedTo   c3po.MessageID // by this reply: the answered message, in the inbox of the next agent
	Spent     *Spent         // with BUDGET_SPENT: why
	Fill      *Fill          // unless it is a repeat
	Now       time.Time
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
	Deadline   time.Time // by which the sender hoped for an answer; zero if it named none
	Answers    []c3po.Answered
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
	Run    string // SUPERSEDED if another run holds the id; empty passes
	After  int64  // reading position of the last entry of the page before; 0 = from the start
	Limit  int
	Bytes  int   // stop after so many bytes of bodies, but never before the first entry
	MinSeq int64 // only messages with a greater sequence
	// Member reads the mailbox of a role: the run is that agent's, and what it
	// sent itself or what another agent holds is left out.
	Member c3po.AgentID
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
	// earlier send (KEY_CONFLICT if the same key had another draft),
	// AGENT_NOT_FOUND, an alias that pointed elsewhere within NameLife
	// (INVALID_REQUEST naming both), AGENT_UNAVAILABLE, RATE_LIMITED, INBOX_FULL,
	// STORE_FULL for a space that holds SpaceBytes, BUDGET_SPENT. A spent chain is paused until ResumeChain. What the system or a
	// person writes, and what is written to a person, is on no account, and has a place
	// in a full space.
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
}

// ---------------------------------------------------------------- reaper

// A Due message has outlived its life.
type Due struct {
	ID   c3po.MessageID
	From c3po.AgentID
}

// A Pulse is what a tick found in a space.
type Pulse struct {
	Lived int64 // seconds
	Won   bool  // the caller is to look after the space until the next tick
	Due   bool  // something may be due there; false only if nothing is, or if it has not won
}

// Counters are the books of a space, kept by the steps themselves.
type Counters struct {
	Sent, Pending, Acked, Cancelled, Dead int64
	Agents                                int64
	EndedBytes                            int64
	PendingBytes                          int64
	Lived                                 int64
	Seq                                   int64
}

// A DeadLetter is a message that ended without being acked.
type DeadLetter struct {
	Entry Entry
	Seq   int64 // number of the event that ended it
	At    time.Time
}

type reaperStore interface {
	// Reaper makes a node the one that reaps, for so long, and returns 0. If another
	// one is, nothing changes, and it returns for how much longer that one is. With a
	// length of 0 the node gives it up.
	Reaper(ctx context.Context, node string, length time.Duration) (another time.Duration, err error)
	// Tick advances lived time by the seconds since the last tick, at most twice
	// the interval and never backwards. A tick sooner than half the interval changes
	// nothing, and only the node whose tick was the last to count has won.
	Tick(ctx context.Context, space c3po.Space, node string, interval time.Duration) (Pulse, error)
	// DueMail lists up to limit messages whose life is over.
	DueMail(ctx context.Context, space c3po.Space, limit int) ([]Due, error)
	// Bury makes a pending message a dead letter for the given reason, and puts
	// one bounce into its sender's inbox if the sender is registered and the message
	// was no bounce or notice itself. A message that is not pending is left alone (false).
	Bury(ctx context.Context, space c3po.Space, id c3po.MessageID, reason, bounce string) (bool, error)
	// Trim forgets, of up to limit messages or keys each: ended messages older than EndedLife
	// or beyond EndedBytes (an engine without memory forgets more of them), dead letters older than DeadLife, keys older than
	// KeyLife. It returns how many it forgot. Accounts unused for FlowIdle go along, and
	// once nothing else is left what numbers.go says to be over: leases, names, paused
	// chains, and queues that nobody has.
	Trim(ctx context.Context, space c3po.Space, limit int) (int, error)
	// ForgetSpaces forgets spaces that Trim has found empty for EmptyLife. One that is
	// used again goes on above all numbers it gave.
	ForgetSpaces(ctx context.Context) error

	// Reads.

	// DeadLetters returns up to limit letters whose Seq is above after, in the order
	// they died.
	DeadLetters(ctx context.Context, space c3po.Space, after int64, limit int) ([]DeadLetter, error)
	Counters(ctx context.Context, space c3po.Space) (Counters, error)
	// Oldest is when the unacked message whose life ends first was accepted; the
	// zero time if there is none. Mail that never expires is not looked at.
	Oldest(ctx context.Context, space c3po.Space) (time.Time, error)
	// InboxSize counts the unacked mail of one agent as it really is.
	InboxSize(ctx context.Context, space c3po.Space, id c3po.AgentID) (int, error)
	// InboxSizes is InboxSize of several agents, in their order and one round trip.
	InboxSizes(ctx context.Context, space c3po.Space, ids []c3po.AgentID) ([]int, error)
	// InboxBytes adds up the bytes of the unacked mail of one agent, one by one.
	InboxBytes(ctx context.Context, space c3po.Space, id c3po.AgentID) (int64, error)
	// Spaces lists every space that was written to and not forgotten.
	Spaces(ctx context.Context) ([]c3po.Space, error)
}
