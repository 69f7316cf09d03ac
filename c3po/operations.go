package c3po

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unicode/utf8"
)

// Service is everything a caller can ask for. The hub, bound to a caller, is
// one; a client, which holds its own identity, is another.
type Service interface {
	Ping(context.Context, None) (Pong, error)
	ServerInfo(context.Context, None) (ServerInfo, error)

	RegisterAgent(context.Context, RegisterInput) (Self, error)
	WhoAmI(context.Context, None) (Self, error)
	ListAgents(context.Context, ListAgentsInput) (AgentList, error)
	CoWorkers(context.Context, ListAgentsInput) (CoWorkerList, error)
	GetAgentStatus(context.Context, AgentInput) (Agent, error)
	SetStatus(context.Context, StatusInput) (StatusResult, error)
	Unregister(context.Context, None) (Unregistered, error)
	ReportDeath(context.Context, DeathInput) (DeathResult, error)
	Rename(context.Context, RenameInput) (Renaming, error)

	SendMessage(context.Context, SendInput) (Receipt, error)
	GetMessages(context.Context, GetMessagesInput) (MessageList, error)
	Peek(context.Context, GetMessagesInput) (MessageList, error)
	Pending(context.Context, PendingInput) (PendingResult, error)
	WaitForMessage(context.Context, WaitInput) (WaitResult, error)
	Reply(context.Context, ReplyInput) (Message, error)
	AckMessages(context.Context, AckInput) (AckResult, error)
	Received(context.Context, ReceivedInput) (AckResult, error)
	Claim(context.Context, MessageInput) (Message, error)
	GetThread(context.Context, ThreadInput) (MessageList, error)
	Cancel(context.Context, MessageInput) (CancelResult, error)
	Tickets(context.Context, TicketsInput) (TicketList, error)

	FileBegin(context.Context, FileInput) (FileState, error)
	FileAppend(context.Context, FileChunkInput) (FileState, error)
	FileRead(context.Context, FileQuery) (FilePart, error)
	FileText(context.Context, FileTextInput) (FileText, error)
	FileList(context.Context, FileListInput) (FileList, error)
	FileDrop(context.Context, FileDropInput) (FileDropped, error)

	RoomJoin(context.Context, RoomJoinInput) (RoomJoined, error)
	RoomLeave(context.Context, RoomInput) (RoomLeft, error)
	RoomPost(context.Context, RoomPostInput) (PostReceipt, error)
	RoomHistory(context.Context, RoomHistoryInput) (MessageList, error)
	RoomList(context.Context, RoomListInput) (RoomList, error)
	RoomInvite(context.Context, RoomInviteInput) (RoomInvited, error)
	RoomSet(context.Context, RoomSetInput) (Room, error)
	RoomEnd(context.Context, RoomInput) (RoomEnded, error)
	RoomPrune(context.Context, RoomPruneInput) (RoomPruned, error)
	Broadcast(context.Context, BroadcastInput) (BroadcastReceipt, error)

	EscalateToHuman(context.Context, EscalateInput) (Escalation, error)
	RequestApproval(context.Context, ApprovalInput) (ApprovalAsked, error)
	HumanList(context.Context, GetMessagesInput) (MessageList, error)
	HumanShow(context.Context, MessageInput) (Question, error)
	HumanAnswer(context.Context, AnswerInput) (Message, error)
	Pause(context.Context, PauseInput) (PauseResult, error)
	Resume(context.Context, PauseInput) (PauseResult, error)
	ThreadResume(context.Context, ThreadResumeInput) (ThreadResumed, error)

	LeaseTake(context.Context, LeaseTakeInput) (LeaseTaken, error)
	LeaseRelease(context.Context, LeaseReleaseInput) (LeaseReleased, error)
	LeaseCheck(context.Context, LeaseCheckInput) (LeaseConflicts, error)
	LeaseList(context.Context, LeaseListInput) (LeaseList, error)
	LeaseBreak(context.Context, LeaseBreakInput) (LeaseReleased, error)

	Trace(context.Context, MessageInput) (Trace, error)
	TailLog(context.Context, LogInput) (LogPage, error)
	Fsck(context.Context, None) (Audit, error)

	Sweep(context.Context, SweepInput) (SweepResult, error)
	Stuck(context.Context, None) (Stuck, error)
	Recent(context.Context, RecentInput) (MessageList, error)
	Conversations(context.Context, ConversationsInput) (ConversationList, error)
	Search(context.Context, SearchInput) (SearchPage, error)
	DeadLetters(context.Context, LettersInput) (LetterList, error)
	DeadLetter(context.Context, MessageInput) (LetterView, error)
	DeadLetterReplay(context.Context, LetterSelection) (LetterOutcome, error)
	DeadLetterPurge(context.Context, LetterSelection) (LetterOutcome, error)
}

// An Acting service says whom it acts as, while it does so and after, and is
// told when its answer was written to the caller: only then has the mail in it
// been served.
type Acting interface {
	ID() AgentID
	Epoch() int64
	Delivered()
}

// The headers in which an answer names whom its caller was taken for.
const (
	ActedAsHeader = "X-C3PO-Agent-ID"
	EpochHeader   = "X-C3PO-Epoch"
)

// Toolset names a group of tools that are offered together.
type Toolset string

// The toolsets. An operation in none of them is for our own client only.
const (
	Core   Toolset = "core"
	More   Toolset = "more"
	Rooms  Toolset = "rooms"
	Diag   Toolset = "diag"
	Compat Toolset = "compat"
	Bridge Toolset = "bridge"
	C2C    Toolset = "c2c"
)

// A Listing is an answer whose rows REST writes as a bare array, with the
// cursor of the next page in a Link header.
type Listing interface {
	Rows() any
	Cursor() *string
}

// An Operation is one thing a Service does, under the name all surfaces use.
type Operation struct {
	Name       string
	Tool       string // what models call it; its name, unless another toolset has a tool of that name
	Toolset    Toolset
	Doc        string       // what a model is told
	In, Out    reflect.Type // of the arguments and the result
	ReadOnly   bool         // changes nothing; a wait that may claim a queue's message does
	Idempotent bool         // the same call twice is the same as once
	Destroys   bool         // takes away what others have, for good
	Bodies     bool         // answers with what other agents wrote: text only for a model
	Command    string       // of the shell, without c3po; empty if it has none
	NoCommand  string       // why it has none
	NoTool     string       // why no toolset has it
	part       bool         // of something that is recorded as a whole
	roles      []Role       // who may ask for it, beside admins
	call       func(context.Context, Service, []byte) (any, error)
}

// Call runs the operation with JSON arguments. No arguments are none. A service
// that acts for a caller is asked for nothing its role does not allow.
func (o Operation) Call(ctx context.Context, svc Service, arguments []byte) (any, error) {
	if actor, ok := svc.(RoleHolder); ok {
		if err := o.Check(actor.Role()); err != nil {
			return nil, err
		}
	}
	if guard, ok := svc.(Guard); ok {
		var err error
		if ctx, err = guard.Prove(ctx, o, arguments); err != nil {
			return nil, err
		}
	}
	out, err := Rejoining(ctx, svc, func() (any, error) { return o.call(ctx, svc, arguments) })
	if witness, ok := svc.(Witness); ok && err == nil {
		witness.Done(ctx, o, arguments)
	}
	return out, err
}

// A Guard is a Service that lets some acts of a person through only with a proof. It
// gives the context to go on with, which holds the proof.
type Guard interface {
	Prove(ctx context.Context, o Operation, arguments []byte) (context.Context, error)
}

// A Witness is a Service that is told of each operation that was carried out, by
// whichever way it was asked for.
type Witness interface {
	Done(ctx context.Context, o Operation, arguments []byte)
}

// Recorded says whether an operation that somebody of that role has carried out as
// that agent belongs into the audit: what only a person may do, and whatever a person
// does in their own name.
func (o Operation) Recorded(role Role, as AgentID) bool {
	return !o.ReadOnly && !o.part && (!o.Allows(RoleAgent) || role == RoleHuman || as == Human)
}

// Rejoining makes a call of a service, and repeats it if it was refused only
// because its caller was renamed.
func Rejoining[Out any](ctx context.Context, svc Service, call func() (Out, error)) (Out, error) {
	out, err := call()
	for errors.Is(err, Superseded) {
		again, ok := svc.(Rejoiner)
		if !ok || !again.Rejoin(ctx) {
			break
		}
		out, err = call()
	}
	return out, err
}

// A Rejoiner is a Service whose caller can lose its id to a new name. It says
// whether that is why a call was refused, after which it is worth repeating.
type Rejoiner interface{ Rejoin(context.Context) bool }

// A RoleHolder is a Service that acts for a caller whose role it knows.
type RoleHolder interface{ Role() Role }

// Allows says whether a caller of that role may ask for the operation.
func (o Operation) Allows(role Role) bool { return role == RoleAdmin || slices.Contains(o.roles, role) }

// Check is Allows in words: FORBIDDEN.
func (o Operation) Check(role Role) error {
	switch {
	case o.Allows(role):
		return nil
	case role == RoleAgent:
		return RefuseAgent()
	default:
		return Errorf(Forbidden, "%s is not for the role %s", o.Name, role).
			Suggest("Use a token of another role; `c3po token create` makes one.")
	}
}

// AskPerson is the advice to an agent about what only a person may do. A command
// line, which a person reads, has advice of its own instead.
const AskPerson = "Ask the person with escalate_to_human."

// WorkLocally is the advice to an agent whose coordinator is away: it cannot mend
// that. A command line has advice of its own instead.
const WorkLocally = "You can continue working locally."

// RefuseAgent is the refusal of what only a person may do.
func RefuseAgent() *Error {
	return Errorf(Forbidden, "only a person may do this").Suggest(AskPerson)
}

// Op makes a row of the table from a function of a Service. Arguments of the
// bridge may hold more than is known, those of all others may not.
func Op[In, Out any](name string, set Toolset, doc string, run func(Service, context.Context, In) (Out, error), traits ...Trait) Operation {
	o := Operation{Name: name, Tool: name, Toolset: set, Doc: doc, In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](), roles: []Role{RoleAgent}}
	decode := Decode[In]
	if set == Bridge {
		decode = DecodeOpen[In]
	}
	o.call = func(ctx context.Context, svc Service, arguments []byte) (any, error) {
		in, err := decode(arguments)
		if err != nil {
			return nil, err
		}
		out, err := run(svc, ctx, in)
		if err != nil {
			return nil, err
		}
		return &out, nil
	}
	for _, t := range traits {
		t(&o)
	}
	return o
}

var native = []Operation{
	Op("ping", Core, "Check that the c3po coordinator answers.", Service.Ping, ReadOnly, forEverybody, Command("health")),
	Op("list_agents", Core, "List the agents of other programs and hosts you can reach through c3po, with their status.", Service.ListAgents, ReadOnly, ForViewers, Command("agents")),
	Op("register_agent", Core, "Describe yourself to other c3po agents (capabilities, type). Your first call registers you anyway.", Service.RegisterAgent, Idempotent, Command("register")),
	Op("send_message", Core, "Send a message to another c3po agent.", Service.SendMessage, CarriesBodies, ForWriters, Command("send")),
	Op("get_messages", Core, "Read your c3po inbox. Messages stay until you ack or answer them.", Service.GetMessages, ReadOnly, CarriesBodies, Command("inbox")),
	Op("reply", Core, "Answer a c3po message. This also acks it.", Service.Reply, Command("reply")),
	Op("wait_for_message", Core, "Wait for the next c3po message, or with message_id for the answer to one of yours. Cancelling loses nothing.", Service.WaitForMessage, CarriesBodies, AtLeastOne("timeout"), Command("wait")),
	Op("ack_messages", Core, "Mark c3po messages as dealt with, once you have acted on them or written down what matters.", Service.AckMessages, Idempotent, ForWriters, Command("ack")),
	Op("set_status", Core, "Tell other c3po agents whether you are available, busy or away.", Service.SetStatus, Idempotent, Command("status set")),
	Op("escalate_to_human", Core, "Ask the person for a decision through c3po. Other agents see that you wait for a human.", Service.EscalateToHuman, Command("ask-human")),
	Op("cancel", Core, "Withdraw your c3po message if nobody has answered it yet.", Service.Cancel, Idempotent, ForWriters, Command("cancel")),

	Op("whoami", More, "Show your own c3po id, space, and how much mail is unread.", Service.WhoAmI, ReadOnly, Command("whoami")),
	Op("get_agent_status", More, "Show one c3po agent: status, availability, task.", Service.GetAgentStatus, ReadOnly, ForViewers, Command("agents")),
	Op("get_thread", More, "Read a c3po conversation back, oldest first.", Service.GetThread, ReadOnly, CarriesBodies, ForViewers, Command("thread")),
	Op("peek", More, "Look at your c3po inbox without this counting as delivered.", Service.Peek, ReadOnly, CarriesBodies, Command("inbox")),
	Op("claim", More, "Take a c3po message that was sent to your queue, so that no other agent works on it.", Service.Claim, Idempotent, CarriesBodies, Command("claim")),
	Op("co_workers", More, "List c3po agents in one short line each.", Service.CoWorkers, ReadOnly, ForViewers, Command("agents")),
	Op("file_text", More, "Read a text file that came with a c3po message, from an offset on.", Service.FileText, ReadOnly, CarriesBodies, ForViewers, NoCommand("`c3po save` gets the whole file")),
	Op("lease_list", More, "List who edits which files, with the lease of each. Editing takes a lease by itself, in repositories where leases are on.", Service.LeaseList, ReadOnly, ForViewers, Command("leases")),

	Op("room_join", Rooms, "Join a c3po room, making it if there is none. Answers with the last that was said in it.", Service.RoomJoin, Idempotent, CarriesBodies, Command("room join")),
	Op("room_leave", Rooms, "Leave a c3po room.", Service.RoomLeave, Idempotent, Command("room leave")),
	Op("room_post", Rooms, "Say something in a c3po room. Members read it with get_messages; no reply is expected. @id of a member also sends it as mail.", Service.RoomPost, ForWriters, Command("room post")),
	Op("room_history", Rooms, "Read back what was said in a c3po room; each next page is further back.", Service.RoomHistory, ReadOnly, CarriesBodies, ForViewers, Command("room history")),
	Op("room_list", Rooms, "List the c3po rooms you are in, or all you can see, with their member counts.", Service.RoomList, ReadOnly, ForViewers, Command("room list")),
	Op("room_invite", Rooms, "Invite an agent into a c3po room you are in.", Service.RoomInvite, Idempotent, ForWriters, Command("room invite")),
	Op("room_set", Rooms, "Make a c3po room you have created public or invite_only.", Service.RoomSet, Idempotent, ForWriters, Command("room set")),
	Op("room_end", Rooms, "End a c3po room you have created: its members leave it and its history is forgotten.", Service.RoomEnd, Idempotent, destructive, ForWriters, Command("room end")),
	Op("broadcast", Rooms, "Say something to every c3po agent, or to those of a type, capability or host. No reply is expected.", Service.Broadcast, ForWriters, Command("broadcast")),

	Op("server_info", Diag, "Show version, features and durability of the c3po coordinator.", Service.ServerInfo, ReadOnly, forEverybody, Command("status")),
	Op("trace", Diag, "Show the life of one c3po message: when it was accepted, served, acked, answered.", Service.Trace, ReadOnly, ForViewers, Command("trace")),
	Op("tail_log", Diag, "Show the latest c3po events: messages accepted, answered and acked, agents that came and went. Never what they say.", Service.TailLog, ReadOnly, ForViewers, Command("tail")),
	Op("sweep", Diag, "Remove c3po agents that were silent for long; their unread mail becomes dead letters. A person's act.", Service.Sweep, Idempotent, forPersons, Command("sweep")),

	Op("unregister", "", "End this session; the agent stays known and keeps its mail.", Service.Unregister, Idempotent, forRunners, Command("unregister"), noTool("the end of the session does it")),
	Op("report_death", "", "Say that the process of an agent on your host has ended.", Service.ReportDeath, Idempotent, forRunners, NoCommand("`c3po mcp` and `c3po run` report the end of the process they watch"), noTool("for our own processes")),
	Op("rename", "", "Take another id; mail, tickets and roles move with you, and the old id answers for a day.", Service.Rename, Command("rename"), noTool("a person's choice")),
	Op("pending", "", "Unacked mail, without recording that it was seen.", Service.Pending, ReadOnly, CarriesBodies, forRunners, Command("inbox"), noTool("for hooks: `peek`")),
	Op("received", "", "Report what a client has provably taken or been told of.", Service.Received, Idempotent, NoCommand("a client reports what it has taken; reading in a shell is `served`"), noTool("for our own client")),
	Op("file_begin", "", "Make a place for a file, or find out how far its upload has come.", Service.FileBegin, Idempotent, ForWriters, Command("send"), noTool("a model sends files with `c3po send --file`")),
	Op("file_append", "", "Store the next part of a file.", Service.FileAppend, Idempotent, partOfAct, ForWriters, Command("send"), noTool("a model sends files with `c3po send --file`")),
	Op("file_read", "", "Read a part of a file that came with a message.", Service.FileRead, ReadOnly, ForViewers, Command("save"), noTool("bytes are no use to a model: `c3po save`")),
	Op("file_list", "", "Show what takes the room for files: your own, to a person all.", Service.FileList, ReadOnly, ForViewers, Command("files"), noTool("a model sends files with `c3po send --file`")),
	Op("file_drop", "", "Drop a file to make room: one of yours that no message carries, as a person any.", Service.FileDrop, Idempotent, ForWriters, Command("files drop"), noTool("a model sends files with `c3po send --file`")),
	Op("tickets", "", "List questions and how far each has come.", Service.Tickets, ReadOnly, ForViewers, Command("tickets"), noTool("`get_thread`, `wait_for_message`")),
	Op("stuck", "", "Who waits for whom; the agent that holds up the most comes first.", Service.Stuck, ReadOnly, forWatchers, Command("stuck"), noTool("for the person")),
	Op("recent", "", "The last messages that an agent wrote or was written to.", Service.Recent, ReadOnly, CarriesBodies, forWatchers, NoCommand("`c3po tail --agent` lists them, `c3po thread` reads one"), noTool("for the person")),
	Op("conversations", "", "List conversations with their first and last line.", Service.Conversations, ReadOnly, CarriesBodies, forWatchers, NoCommand("`c3po tickets` lists them, `c3po thread` reads one"), noTool("for the person")),
	Op("search", "", "Find messages by their words, the newest first.", Service.Search, ReadOnly, CarriesBodies, forWatchers, Command("search"), noTool("for the person")),
	Op("request_approval", "", "Ask the person to allow a tool, once.", Service.RequestApproval, Idempotent, NoCommand("a coding agent's hook asks"), noTool("for hooks: a model cannot ask for its own permission")),
	Op("lease_take", "", "Take the leases of files that are about to be edited, or learn who holds one.", Service.LeaseTake, Idempotent, NoCommand("a coding agent's hook takes them before an edit"), noTool("for hooks: a lease costs a model nothing")),
	Op("lease_release", "", "End the leases of files that are committed or unchanged.", Service.LeaseRelease, Idempotent, NoCommand("the session sees what is committed or unchanged"), noTool("for our own processes")),
	Op("lease_check", "", "Find files among those to commit whose leases others hold or have had since.", Service.LeaseCheck, ReadOnly, ForWriters, Command("leases check"), noTool("for the git hook")),
	Op("lease_break", "", "End a lease, whoever holds it.", Service.LeaseBreak, Idempotent, forPersons, Command("leases release"), noTool("for the person")),
	Op("human_list", "", "Questions that wait for the person.", Service.HumanList, ReadOnly, CarriesBodies, forPersons, Command("human list"), noTool("for the person")),
	Op("human_show", "", "One question to the person, and what became of it.", Service.HumanShow, ReadOnly, CarriesBodies, forPersons, Command("human show"), noTool("for the person")),
	Op("human_answer", "", "Answer a question as the person.", Service.HumanAnswer, forPersons, Command("human answer"), noTool("for the person")),
	Op("pause", "", "Pause one agent or all.", Service.Pause, Idempotent, forPersons, Command("pause"), noTool("for the person")),
	Op("resume", "", "Resume one agent or all.", Service.Resume, Idempotent, forPersons, Command("resume"), noTool("for the person")),
	Op("thread_resume", "", "Let a conversation go on whose budget is spent.", Service.ThreadResume, Idempotent, forPersons, Command("thread resume"), noTool("for the person")),
	Op("room_prune", "", "Evict members from rooms that give no sign of life, or end rooms that are empty and silent.", Service.RoomPrune, Idempotent, forPersons, Command("room prune"), noTool("for the person")),
	Op("fsck", "", "Prove that no message is missing.", Service.Fsck, ReadOnly, forPersons, Command("fsck"), noTool("for operators")),
	Op("dead_letters", "", "List messages that ended unread: expired, damaged, or of a removed agent.", Service.DeadLetters, ReadOnly, forWatchers, Command("dead-letter list"), noTool("for the person")),
	Op("dead_letter", "", "Show one dead letter with its text.", Service.DeadLetter, ReadOnly, CarriesBodies, forWatchers, Command("dead-letter show"), noTool("for the person")),
	Op("dead_letter_replay", "", "Deliver dead letters again.", Service.DeadLetterReplay, Idempotent, forPersons, Command("dead-letter replay"), noTool("for the person")),
	Op("dead_letter_purge", "", "Forget dead letters at once.", Service.DeadLetterPurge, Idempotent, forPersons, Command("dead-letter purge"), noTool("for the person")),
}

// NativeOperations are those of a Service itself, in the order tools are listed.
// The dialects have more; the whole table is dialect.Operations.
func NativeOperations() []Operation { return slices.Clone(native) }

// FindOperation looks a name up.
func FindOperation(table []Operation, name string) (Operation, error) {
	for _, o := range table {
		if o.Name == name {
			return o, nil
		}
	}
	return Operation{}, Because(errNotKnown, InvalidRequest, fmt.Sprintf("there is no operation %q", Clip(name))).
		Suggest("server_info lists what this coordinator can do.")
}

// Decode reads arguments strictly: a misspelt field is refused, not ignored,
// and so is text that is not UTF-8 or escapes half a character, because it could
// not be kept unchanged.
func Decode[In any](arguments []byte) (In, error) { return decode[In](arguments, true) }

// DecodeOpen ignores fields it does not know. The bridge's document leaves its
// objects open, and its clients send more than it lists.
func DecodeOpen[In any](arguments []byte) (In, error) { return decode[In](arguments, false) }

func decode[In any](arguments []byte, closed bool) (In, error) {
	var in In
	if len(bytes.TrimSpace(arguments)) == 0 {
		return in, nil
	}
	if !utf8.Valid(arguments) {
		return in, Errorf(InvalidRequest, "the request is not valid UTF-8").Suggest("Send the text as UTF-8.")
	}
	if half := halfCharacter(arguments); half != "" {
		return in, Errorf(InvalidRequest, "the request has half a character, %s", half).
			Suggest("Send whole characters: text was probably cut in the middle of one.")
	}
	d := decoderOf(closed, len(arguments))
	d.from.Reset(arguments)
	if err := d.Decode(&in); err != nil {
		return in, badArguments(err, reflect.TypeFor[In]())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in, Errorf(InvalidRequest, "there is something after the JSON object").Suggest("Send one JSON object.")
	}
	d.release()
	return in, nil
}
