// Generated from openapi.yaml by make contract, from the same table as the Go client.

/** Access is what the caller was let in with. */
export interface Access {
  role: Role;
  /** As whom it may act; as anybody if empty */
  agents?: string;
  /** Of its token, if it is not used until then */
  expires?: string;
  /** Of its token; it showed none if empty */
  kid?: string;
}

/** AckInput names messages that were dealt with. */
export interface AckInput {
  /** Ids of messages you have dealt with */
  message_ids: MessageID[];
}

/** AckResult says what became of each id. */
export interface AckResult {
  acked: MessageID[];
  already: MessageID[];
  unknown: MessageID[];
  not_yours: MessageID[];
  /** What failed after the change was stored */
  notice?: string;
  /** Of a role: another agent has claimed it since you did */
  stale?: MessageID[];
  /** Of a mailbox that failed after others were done: call again with them */
  undecided?: MessageID[];
}

/** An Act is what a person is asked to confirm. */
export interface Act {
  operation: string;
  space: Space;
  answer?: string;
  arguments?: Record<string, unknown>;
  as?: AgentID;
  asker?: AgentID;
  kind?: Kind;
  question?: string;
  verdict?: Verdict;
}

/** An Agent is one participant as others see it. */
export interface Agent {
  id: AgentID;
  status: Status;
  availability: Availability;
  alive: boolean | null;
  paused: string | null;
  reachability: Reachability;
  capabilities: string[];
  rooms: string[];
  registered_at: string;
  last_seen: string;
  client?: string;
  current_task?: string;
  cwd?: string;
  /** Seconds between its calls, as it declared */
  heartbeat_interval?: number;
  host?: string;
  metadata?: Record<string, unknown>;
  name?: string;
  out_of_quota?: OutOfQuota;
  state?: SessionState;
  /** When the coordinator first heard so; of one that is idle, that its turn had ended */
  state_since?: string;
  type?: string;
  /** Mail it has not acked; for people and observers */
  unread?: number;
}

/** An AgentID names an agent. */
export type AgentID = string;

/** AgentInput names an agent. */
export interface AgentInput {
  /** The agent's id */
  agent_id: string;
}

/** An Alias is the argument of register. */
export interface Alias {
  /** What to be called; your id if left out */
  alias?: string;
  /** What you can do */
  capabilities?: string[];
}

/** AnswerInput is a person's answer. */
export interface AnswerInput {
  message_id: MessageID;
  /** One of the choices, or its number from 1 */
  choice?: string;
  /** Idempotency key */
  client_key?: string;
  /** The answer in own words */
  response?: string;
}

/** Answered is one reply to a message. */
export interface Answered {
  id: MessageID;
  at: string;
  moved_to?: MessageID;
  proof?: Proof;
  unproved?: boolean;
  /** What a person decided on an approval: allowed Bash once, denied Bash */
  verdict?: string;
}

/** ApprovalAsked confirms that the person was asked to allow a tool. */
export interface ApprovalAsked {
  message_id: MessageID;
  hash: string;
  expires: string;
}

/** ApprovalInput asks the person whether a coding agent may use a tool, once. */
export interface ApprovalInput {
  /** The tool, as the coding agent names it */
  tool: string;
  /** The exact arguments of the call, a JSON object */
  input: Record<string, unknown>;
  /** The coding agent's session that asks */
  session: string;
  /** A name of this request that nothing else has; the same name never asks twice */
  request: string;
  /** After how long the request is withdrawn: 10m or 1h; default 1h */
  expires?: string;
  /** Where the tool would run */
  folder?: string;
  /** What the agent said before it asked */
  reason?: string;
}

/** Asked is what was known of the agent that has a ticket when a wait for the answer ended. */
export interface Asked {
  attached?: boolean;
  dead?: boolean;
  epoch?: number;
  id?: AgentID;
  online?: boolean;
  paused?: boolean;
  silent?: boolean;
}

/** An Attachment is a file that travels with a message. */
export interface Attachment {
  id: string;
  name: string;
  size: number;
  sha256: string;
  type?: string;
}

/** Audit is the result of fsck. */
export interface Audit {
  space: Space;
  /** 1, and one more for each time the store was found to have forgotten acknowledged writes */
  epoch: number;
  sent: number;
  pending: number;
  acked: number;
  cancelled: number;
  dead: number;
  /** Counted in the inboxes, one by one */
  found_pending: number;
  /** Of the pending messages, as the books say */
  bytes: number;
  /** Likewise, added up one by one */
  found_bytes: number;
  agents: number;
  rooms: number;
  balanced: boolean;
  problems: string[];
}

/** An AuditEntry is one thing that somebody will ask about later. */
export interface AuditEntry {
  /** Goes up */
  id: string;
  at: string;
  event: string;
  agent?: string;
  detail?: string;
  /** SHA-256 of the JSON array of strings [prev, n, id, event, kid, role, space, agent, remote, detail] */
  hash?: string;
  /** The token it was done with, or to */
  kid?: string;
  /** Its place in its chain, from 1; 0 for one of before there were chains */
  n?: number;
  /** The hash of the entry before it in the chain */
  prev?: string;
  /** Address it came from */
  remote?: string;
  role?: Role;
  space?: string;
}

/** An AuditHead is how far a chain of the audit goes. */
export interface AuditHead {
  n: number;
  hash: string;
}

/** AuditHeads are those of the two chains. */
export interface AuditHeads {
  deeds: AuditHead;
  refusals: AuditHead;
}

/** Availability is what the agent says of itself. */
export type Availability = "available" | "busy" | "away";

/** BroadcastInput is something to be said to everybody, or with Cursor the question who else was live. */
export interface BroadcastInput {
  /** Only to agents with this capability */
  capability?: string;
  /** Idempotency key: the same key never sends twice */
  client_key?: string;
  /** Type of the message text, for example application/json */
  content_type?: string;
  /** Background the others need, at most 50000 characters */
  context?: string;
  /** The next of a receipt: shows more of who was live, and sends nothing */
  cursor?: string;
  /** Only to agents of this host */
  host?: string;
  /** What to say, at most 50000 characters */
  message?: string;
  /** Only to agents of this type, for example codex */
  type?: string;
}

/** A BroadcastReceipt says that a broadcast was stored, and who was live then. */
export interface BroadcastReceipt {
  id: MessageID;
  seq: number;
  timestamp: string;
  durability: Durability;
  /** Of those it is for; the others see it if they return within its life */
  live: AgentID[];
  /** The cursor that shows more of them */
  next?: string;
  notice?: string;
  /** A budget is nearly spent */
  warning?: string;
}

/** CancelOutcome says what became of a cancel. */
export type CancelOutcome = "cancelled" | "already" | "responded" | "ended" | "unknown" | "not_yours";

/** CancelResult says what became of a message that was to be cancelled, and what its recipient knows of it. */
export interface CancelResult {
  message_id: MessageID;
  outcome: CancelOutcome;
  /** Its reader was sent a notice: it had the text already */
  told: boolean;
  message: string;
}

/** A Claim says which agent holds a message of a queue, and since when. */
export interface Claim {
  by: AgentID;
  at: string;
  released?: boolean;
}

/** A CoWorker is an agent in one line. */
export interface CoWorker {
  id: AgentID;
  status: Status;
  cwd?: string;
  type?: string;
}

/** A Code says what went wrong in a way a program can act on. */
export type Code = "INVALID_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "PROOF_REQUIRED" | "AGENT_NOT_FOUND" | "TICKET_NOT_FOUND" | "KEY_CONFLICT" | "AGENT_UNAVAILABLE" | "RATE_LIMITED" | "BUDGET_SPENT" | "INBOX_FULL" | "REDIS_UNAVAILABLE" | "STORE_FULL" | "UNKNOWN_OUTCOME" | "SUPERSEDED" | "COORD_DOWN" | "TIMEOUT" | "INTERNAL";

/** A Conversation is a thread in which something was asked. */
export interface Conversation {
  thread: string;
  last_at: string;
  turns: number;
  from_agent: AgentID;
  to_agent: AgentID;
  state: TicketState;
  /** The start of its last message, if there are two */
  last?: string;
  last_from?: AgentID;
  /** The start of its first message */
  subject?: string;
}

/** ConversationsInput selects and pages. */
export interface ConversationsInput {
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
  /** open or closed, of the latest question in it; both if left out */
  state?: "open" | "closed";
}

/** A Cost is what an answer, or a whole conversation, has cost as far as clients say. */
export interface Cost {
  usage: Usage;
  /** That say so */
  clients?: string[];
  /** Of a conversation: whose cost is known */
  messages?: number;
  /** A part of it is this message's part of what several have cost together */
  shared?: boolean;
}

/** DeathInput says that the process of a run has ended. */
export interface DeathInput {
  /** Its run, as host:pid:start */
  run: string;
  agent_id?: AgentID;
}

/** DeathResult says whether that was news. */
export interface DeathResult {
  agent_id: AgentID;
  /** False: another run has the id by now, or it was known */
  died: boolean;
}

/** A Delivery is a message that a wait brought. */
export interface Delivery {
  id: MessageID;
  from_agent: AgentID;
  timestamp: string;
  /** All unacked mail, this one included */
  unacked: number;
  /** Where to go on waiting from, after everything this session was given */
  seq: number;
  /** Files that came with it */
  attachments?: Attachment[];
  /** The text was trimmed; the record is still there */
  body_gone?: boolean;
  /** Of a question to a person */
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  /** Of a question to a person: when it is asked again */
  deadline?: string;
  deliveries?: number;
  /** An answer to what an earlier run of this agent asked */
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  handover?: Handover;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  priority?: Priority;
  proof?: Proof;
  /** An answer to an answer that asked nothing: it wakes nobody */
  quiet?: boolean;
  redelivered?: boolean;
  response?: string;
  /** Of a post, and of mail that mentions a member */
  room?: string;
  status?: string;
  thread?: string;
  ticket?: MessageID;
  /** An agent, or agent#room of a post */
  to_agent?: string;
  /** To who wrote it, when it was stored: something is nearly full or spent */
  warning?: string;
}

/** Durability says what "accepted" was worth when it was said. */
export type Durability = "fsync" | "memory";

/** Engine is what Redis says of itself; of several, the one that is worst off. */
export interface Engine {
  /** Redis or valkey */
  name: "redis" | "valkey";
  version: string;
  /** Its maxmemory-policy */
  eviction: string;
  /** With writing to disk */
  problems: string[];
  /** Bytes */
  memory_used: number;
  /** Bytes; 0 if it has no limit */
  memory_max: number;
  /** It makes its log shorter now */
  rewriting: boolean;
  /** Bytes free where it keeps its data; left out if the coordinator cannot know */
  disk_free?: number;
}

/** An Envelope is a message as c2c prints it. */
export interface Envelope {
  from_alias: AgentID;
  to_alias: string;
  content: string;
}

/** An Error is what a caller gets. */
export interface Error {
  code: Code;
  /** A sentence */
  error: string;
  /** What to do next */
  suggestion: string;
  retry: Retry;
  not_stored?: boolean;
  proof?: string;
}

/** EscalateInput asks the person. */
export interface EscalateInput {
  /** What you need a person for, in a sentence or two */
  reason: string;
  /** Up to 9 short answers to choose from; the person may still answer in own words */
  choices?: string[];
  /** Idempotency key: the same key never asks twice */
  client_key?: string;
  /** After how long the person is reminded, once: 10m, 2h or 1d */
  deadline?: string;
  /** What you want to know, if the reason does not say it */
  question?: string;
}

/** An Escalation confirms that the person was asked. */
export interface Escalation {
  success: boolean;
  message_id: MessageID;
  paused: string;
  message: string;
  deadline?: string;
}

/** An Event is one entry of a space's log. */
export interface Event {
  seq: number;
  kind: EventKind;
  at: string;
  agent?: AgentID;
  message_id?: MessageID;
  /** The coordinator that took the step */
  node?: string;
  /** A public room it happened in */
  room?: string;
}

/** EventKind says what changed. */
export type EventKind = "accepted" | "answered" | "acked" | "dead" | "delivered" | "timed_out" | "cancelled" | "claimed" | "released" | "redelivered" | "renamed" | "retired" | "registered" | "unregistered" | "died" | "paused" | "resumed" | "posted" | "joined" | "left" | "room_ended" | "rollback";

/** An Eviction is a member that was taken out of a room. */
export interface Eviction {
  room: string;
  agent: AgentID;
  last_seen: string;
}

/** A Fact is something that was proved, when, and by what. */
export interface Fact {
  at: string;
  durability?: Durability;
  route?: string;
  session?: string;
  times?: number;
}

/** FileChunkInput is the next part of a file. */
export interface FileChunkInput {
  /** As the upload's beginning named it */
  id: string;
  /** Where the part begins */
  offset: number;
  /** The part in base64: 261120 bytes, or what is left */
  data: string;
}

/** FileDropInput are the arguments of file_drop. */
export interface FileDropInput {
  /** Of the file, as file_list shows it */
  id: string;
}

/** FileDropped answers file_drop. */
export interface FileDropped {
  /** That are free again */
  bytes: number;
}

/** A FileHolder is how much of the room for files one agent has. */
export interface FileHolder {
  agent: AgentID;
  bytes: number;
}

/** FileInput begins the upload of a file, or finds out how far it has come. */
export interface FileInput {
  /** Its name, without a folder */
  name: string;
  /** In bytes */
  size: number;
  /** Of the whole file, in hex */
  sha256: string;
  /** Media type, for example text/x-diff */
  type?: string;
}

/** FileList answers file_list. */
export interface FileList {
  /** Of all files of the space, announced ones too */
  bytes: number;
  /** That they may have; one agent may have half */
  max_bytes: number;
  /** The largest first */
  holders: FileHolder[];
  files: HeldFile[];
  next_cursor?: string;
}

/** FileListInput are the arguments of file_list. */
export interface FileListInput {
  /** From an earlier page */
  cursor?: string;
  /** How many at the most */
  limit?: number;
}

/** A FilePart is bytes of a file. */
export interface FilePart {
  id: string;
  name: string;
  size: number;
  sha256: string;
  offset: number;
  data: string;
  type?: string;
}

/** FileQuery asks for a part of a file that came with a message. */
export interface FileQuery {
  message_id: MessageID;
  /** Its id in the message's attachments */
  file: string;
  /** Where to begin; 0 if left out */
  offset?: number;
}

/** A FileState is how far an upload has come. */
export interface FileState {
  id: string;
  name: string;
  size: number;
  sha256: string;
  /** So many bytes are stored; the next part begins here */
  offset: number;
  /** All are, and they have the hash that was announced */
  complete: boolean;
  type?: string;
}

/** FileText answers file_text. */
export interface FileText {
  id: string;
  name: string;
  size: number;
  sha256: string;
  offset: number;
  /** It is no text: only `c3po save` helps */
  binary?: boolean;
  /** Where the text goes on; nothing at its end */
  next?: number;
  text?: string;
  type?: string;
}

/** FileTextInput are the arguments of file_text. */
export interface FileTextInput {
  message_id: MessageID;
  /** Its number or name there; the first if left out */
  file?: string;
  /** Byte to begin at */
  offset?: number;
}

/** GetMessagesInput pages through unacked mail. */
export interface GetMessagesInput {
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** Instead of yours, the mail that an ended session beside yours has left; whoami names it */
  left_by?: string;
  /** How many at the most */
  limit?: number;
}

/** A Handover is what an agent said when it handed a message over, as the next one reads it. */
export interface Handover {
  response: string;
  /** Files names those that it was editing */
  metadata?: Record<string, unknown>;
}

/** Health answers /api/health. */
export interface Health {
  status: "ok";
  agents_online: number;
}

/** A HeldFile is a file that takes room in a space. */
export interface HeldFile {
  id: string;
  name: string;
  size: number;
  sha256: string;
  from: AgentID;
  /** So many bytes are stored; all of them are counted */
  offset: number;
  /** That carry it, as far as was looked */
  messages: number;
  /** Seconds until it is forgotten, while no message carries it */
  ends_in?: number;
  type?: string;
}

/** A HoldUp is one that others wait for and that waits for nobody itself. */
export interface HoldUp {
  agent: AgentID;
  /** Agents that wait for it, directly or through others */
  behind: number;
  /** Each followed by those behind it */
  waits: Wait[];
  /** It waits for one that waits for it */
  circle?: boolean;
  reachability?: Reachability;
}

/** InRoom is the argument of the tools that name a room. */
export interface InRoom {
  /** The room */
  room_id: string;
}

/** InviteInput asks for an invitation. */
export interface InviteInput {
  /** The name it will have; its own if empty */
  host?: string;
  /** Not for the host's agents, but for who uses it */
  person?: boolean;
  /** It may also start agents */
  runner?: boolean;
  /** Main if empty; all for a person */
  spaces?: string[];
}

/** Invited is an invitation, in the parts its text is made of. */
export interface Invited {
  /** Where the coordinator believes others reach it */
  address: string;
  /** Of its authority, or "system" */
  hash: string;
  secret: string;
  expires: string;
  /** Of its key, as curl takes it */
  pin?: string;
}

/** JoinInput is what a new host shows. */
export interface JoinInput {
  secret: string;
  /** The name it would like */
  host: string;
}

/** Joined is what a host, or a person at it, gets for a good invitation. */
export interface Joined {
  /** The name it has from now on */
  host: string;
  spaces: string[];
  person_token?: string;
  runner_token?: string;
  /** For agents called host/NAME */
  token?: string;
}

/** Kind says what a message is. */
export type Kind = "message" | "reply" | "bounce" | "notice" | "escalation" | "approval" | "cancelled" | "post" | "broadcast";

/** A Lease is one session's right to edit a file. */
export interface Lease {
  number: number;
  /** The same in every clone */
  repository: string;
  /** Within the repository */
  path: string;
  holder: AgentID;
  since: string;
  /** When its holder last edited the file */
  edited: string;
  /** None while no branch is checked out */
  branch?: string;
  /** Nobody holds it any more */
  ended?: string;
  /** What its holder works on, if it says */
  task?: string;
  /** The working tree */
  tree?: string;
}

/** LeaseBreakInput are the arguments of lease_break. */
export interface LeaseBreakInput {
  /** Number of the lease */
  number: number;
}

/** LeaseCheckInput are the arguments of lease_check. */
export interface LeaseCheckInput {
  /** Identity of the repository */
  repository: string;
  /** Identity of the working tree */
  tree: string;
  /** Files to commit, within the repository */
  paths: string[];
  /** Of each path the last lease its working tree had; 0 for none */
  numbers: number[];
  /** Branch that is checked out */
  branch?: string;
}

/** LeaseConflicts answers lease_check. */
export interface LeaseConflicts {
  /** That others hold, or that were given since */
  leases: Lease[];
}

/** LeaseList answers lease_list. */
export interface LeaseList {
  leases: Lease[];
}

/** LeaseListInput are the arguments of lease_list. */
export interface LeaseListInput {
  /** Only of this repository */
  repository?: string;
}

/** LeaseReleaseInput are the arguments of lease_release. */
export interface LeaseReleaseInput {
  /** Identity of the repository */
  repository: string;
  /** Identity of the working tree */
  tree: string;
  /** Files that you no longer edit */
  paths: string[];
  /** Branch that is checked out */
  branch?: string;
}

/** LeaseReleased answers lease_release and lease_break. */
export interface LeaseReleased {
  released: number;
}

/** LeaseTakeInput are the arguments of lease_take. */
export interface LeaseTakeInput {
  /** Identity of the repository */
  repository: string;
  /** Identity of the working tree */
  tree: string;
  /** Branch that is checked out */
  branch?: string;
  /** Files to edit, within the repository; none to say that you still work */
  paths?: string[];
  /** What you work on; your current task if empty */
  task?: string;
}

/** LeaseTaken answers lease_take. */
export interface LeaseTaken {
  held?: Lease;
  /** In the order of the paths */
  numbers?: number[];
}

/** LeftBehind is unacked mail of an agent whose session has ended and whose number nobody may ever be given again. */
export interface LeftBehind {
  id: AgentID;
  unread: number;
}

/** A Letter is a message that ended without being acked, as its keeper lists it. */
export interface Letter {
  id: MessageID;
  from_agent: AgentID;
  to_agent: AgentID;
  kind: Kind;
  thread: string;
  /** Why it is dead: expired, corrupt or recipient_removed */
  reason: "expired" | "corrupt" | "recipient_removed";
  bytes: number;
  sent_at: string;
  died_at: string;
}

/** LetterLeft is a letter that nothing was done with, and why. */
export interface LetterLeft {
  id: MessageID;
  why: string;
}

/** LetterOutcome says what became of the letters that were selected. */
export interface LetterOutcome {
  done: MessageID[];
  left: LetterLeft[];
  /** There are more than one call does: call again */
  more: boolean;
  /** What failed after the change was stored */
  notice?: string;
  /** Where the call failed, and those after: call again with them */
  undecided?: MessageID[];
}

/** LetterSelection names dead letters to do something with. */
export interface LetterSelection {
  /** Only letters to this agent */
  agent_id?: string;
  /** Every letter; with nothing else */
  all?: boolean;
  /** These letters; with nothing else */
  message_ids?: MessageID[];
  /** Only letters that died for this reason: expired, corrupt or recipient_removed */
  reason?: string;
  /** Only letters that died since then: a time (RFC 3339), or how long ago, for example 12h or 7d */
  since?: string;
}

/** A LetterView is one dead letter with its text. */
export interface LetterView {
  letter: Letter;
  message: Message;
}

/** LettersInput pages through dead letters. */
export interface LettersInput {
  /** Only letters to this agent */
  agent_id?: string;
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
  /** Only letters that died for this reason: expired, corrupt or recipient_removed */
  reason?: string;
  /** Only letters that died since then: a time (RFC 3339), or how long ago, for example 12h or 7d */
  since?: string;
}

/** ListAgentsInput selects and pages. */
export interface ListAgentsInput {
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
  status?: Status;
  /** Only agents of this kind of client */
  type?: string;
}

export interface Liveness {
  status: "ok";
  version: string;
}

/** LogInput selects events of a space's log. */
export interface LogInput {
  /** Only events after this place: the at of an earlier answer */
  after?: string;
  agent?: AgentID;
  /** Only events of these kinds */
  kinds?: EventKind[];
  /** How many at the most */
  limit?: number;
  /** Only events since then: 10m, 2h, 7d, or a time such as 2026-01-02T15:04:05Z */
  since?: string;
  /** Only messages of this thread: its id, or the id of a message in it */
  thread?: string;
}

/** A LogPage is a part of the log, oldest first. */
export interface LogPage {
  events: Event[];
  /** Everything up to here was looked at: go on with it as after */
  at: string;
  /** There are events after At already */
  more?: boolean;
  reset?: ResetReason;
}

/** A Login is what a browser gets for a good code. */
export interface Login {
  token: string;
  role: Role;
  spaces: string[];
  expires: string;
}

/** LoginInput is what a browser shows. */
export interface LoginInput {
  code: string;
}

/** A LoginLink lets a browser in, once. */
export interface LoginLink {
  code: string;
  expires: string;
}

/** A Message as its reader or sender sees it. */
export interface Message {
  id: MessageID;
  from_agent: AgentID;
  timestamp: string;
  /** Files that came with it */
  attachments?: Attachment[];
  /** The text was trimmed; the record is still there */
  body_gone?: boolean;
  /** Of a question to a person */
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  /** Of a question to a person: when it is asked again */
  deadline?: string;
  deliveries?: number;
  /** An answer to what an earlier run of this agent asked */
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  handover?: Handover;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  priority?: Priority;
  proof?: Proof;
  /** An answer to an answer that asked nothing: it wakes nobody */
  quiet?: boolean;
  redelivered?: boolean;
  response?: string;
  /** Of a post, and of mail that mentions a member */
  room?: string;
  seq?: number;
  status?: string;
  thread?: string;
  ticket?: MessageID;
  /** An agent, or agent#room of a post */
  to_agent?: string;
  /** To who wrote it, when it was stored: something is nearly full or spent */
  warning?: string;
}

/** A MessageID names a message. */
export type MessageID = string;

/** MessageInput names one message. */
export interface MessageInput {
  message_id: MessageID;
}

/** A NewToken is the one time a token is shown. */
export interface NewToken {
  kid: string;
  role: Role;
  spaces: string[];
  /** Live, expired or revoked */
  state: "live" | "expired" | "revoked";
  created: string;
  expires: string;
  token: string;
  agents?: string;
  label?: string;
  /** Or up to TokenUseNoted later */
  last_used?: string;
  successor_of?: string;
}

/** None is the input of an operation that takes nothing. */
export type None = Record<string, never>;

/** Notify says by what of a room a member is woken. */
export type Notify = "all" | "mentions" | "none";

/** OutOfQuota is what is known of an agent whose model is refused to it because its quota is used up. */
export interface OutOfQuota {
  /** Its client asks the model again then */
  until: string;
  /** Its provider has named that time; else the end is not known */
  exact: boolean;
  /** When the coordinator heard of it last */
  since: string;
  /** What the client said */
  evidence?: string;
}

/** A Passkey is one of a person's passkeys, without its key. */
export interface Passkey {
  id: string;
  name: string;
  /** The host name of the dashboard it works on */
  site: string;
  created: string;
}

/** PasskeyInput is a passkey that a browser has made. */
export interface PasskeyInput {
  /** Of the offer */
  id: string;
  name: string;
  credential: Record<string, unknown>;
}

/** PasskeyOffer is what a browser needs to make a passkey. */
export interface PasskeyOffer {
  id: string;
  /** For navigator.credentials.create */
  options: Record<string, unknown>;
}

/** Passkeys are all of them, and what they are needed for. */
export interface Passkeys {
  policy: ProofPolicy;
  passkeys: Passkey[];
  pages: string[];
  reset_at?: string;
}

/** PauseInput names one agent, or all of them. */
export interface PauseInput {
  /** The agent; empty with all */
  agent_id?: string;
  /** Every agent of the space */
  all?: boolean;
  /** Why, shown to others */
  reason?: string;
}

/** PauseResult says who is paused now, and why. */
export interface PauseResult {
  paused: string | null;
  agent_id?: AgentID;
  all?: boolean;
  /** What failed after the change was stored */
  notice?: string;
}

/** Pending is the answer of /api/pending and /api/wait. */
export interface Pending {
  /** All unacked mail */
  count: number;
  messages: Message[];
  seq: number;
  /** The cursor of the next page */
  next?: string;
  /** For who said what it knows of its pause: why it is paused, empty if it is not */
  paused?: string;
  /** What was said in rooms and is not acked; none of it is in count or messages */
  room_unread?: number;
}

/** PendingInput asks for unacked mail without recording that it was seen. */
export interface PendingInput {
  /** Only mail after this sequence */
  after?: number;
  /** Mail that comes now does not wake you: you read it when your person writes to you */
  asleep?: boolean;
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
  /** Why the agent is paused as far as you know, empty if it is not; a wait also stops when that has changed */
  paused?: string;
  state?: SessionState;
  /** Seconds to wait for mail; 0 answers at once */
  timeout?: number;
}

/** PendingResult is pending mail, or the reason a wait ended without any. */
export type PendingResult = Pending | WaitOutcome;

/** Pong answers ping. */
export interface Pong {
  pong: boolean;
  timestamp: string;
}

/** A PostReceipt says that a post was stored, and how safely. */
export interface PostReceipt {
  id: MessageID;
  room: string;
  seq: number;
  timestamp: string;
  durability: Durability;
  members: number;
  /** Members that were mentioned, and have it as mail */
  mailed: AgentID[];
  notice?: string;
  /** A budget is nearly spent */
  warning?: string;
}

/** Priority orders an inbox. */
export type Priority = "normal" | "urgent";

/** A Proof says that a person confirmed an act with a passkey. */
export interface Proof {
  /** Of the record that holds the signature */
  id: string;
  /** Its name */
  passkey: string;
  at: string;
}

/** A ProofPolicy says for which of a person's acts a token alone is not enough. */
export type ProofPolicy = "off" | "decisions" | "everything";

/** ProofPolicyInput sets the policy. */
export interface ProofPolicyInput {
  policy: ProofPolicy;
}

/** A ProofRequest is an act that waits for its proof. */
export interface ProofRequest {
  id: string;
  /** Short, to compare by eye what a terminal and a browser show */
  code: string;
  act: Act;
  expires: string;
  state: ProofState;
  /** For navigator.credentials.get */
  options?: Record<string, unknown>;
}

/** ProofSignature is what navigator.credentials.get gave. */
export interface ProofSignature {
  credential: Record<string, unknown>;
}

/** ProofState says how far a proof has come. */
export type ProofState = "waits" | "signed" | "used";

/** A Question is what a person was asked, and what became of it. */
export interface Question {
  id: MessageID;
  from_agent: AgentID;
  timestamp: string;
  state: TicketState;
  /** How the person was told of it */
  told: Told[];
  /** Files that came with it */
  attachments?: Attachment[];
  /** The text was trimmed; the record is still there */
  body_gone?: boolean;
  /** Of a question to a person */
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  /** Of a question to a person: when it is asked again */
  deadline?: string;
  deliveries?: number;
  /** An answer to what an earlier run of this agent asked */
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  handover?: Handover;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  priority?: Priority;
  proof?: Proof;
  /** An answer to an answer that asked nothing: it wakes nobody */
  quiet?: boolean;
  redelivered?: boolean;
  reply?: Message;
  response?: string;
  /** Of a post, and of mail that mentions a member */
  room?: string;
  seq?: number;
  status?: string;
  thread?: string;
  ticket?: MessageID;
  /** An agent, or agent#room of a post */
  to_agent?: string;
  /** To who wrote it, when it was stored: something is nearly full or spent */
  warning?: string;
}

/** A QuotaReport is a session's word that its model is refused to it, or no longer is. */
export interface QuotaReport {
  /** What the client said; more than 200 bytes are cut */
  evidence?: string;
  /** The provider has named that time */
  exact?: boolean;
  /** Milliseconds until the client asks the model again; 0: the model has answered */
  retry_in_ms?: number;
}

/** Reachability says what will happen with mail sent now. */
export type Reachability = "now" | "next_step" | "turn_end" | "soon" | "next_call" | "when_retried" | "when_quota_returns" | "when_person_returns" | "when_resumed" | "waiting_for_human" | "when_dialog_closes" | "when_switched_on" | "next_session" | "unknown" | "starts_when_mailed" | "offline";

export interface Readiness {
  status: "ready" | "not_ready";
  /** Why not */
  reasons: string[];
}

/** A Receipt says that a message was stored, how safely, and what happens next. */
export interface Receipt {
  id: MessageID;
  from_agent: AgentID;
  /** An agent, or agent#room of a post */
  to_agent: string;
  status: string;
  timestamp: string;
  durability: Durability;
  recipient: Status;
  reachability: Reachability;
  /** Files that came with it */
  attachments?: Attachment[];
  /** The text was trimmed; the record is still there */
  body_gone?: boolean;
  /** Of a question to a person */
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  /** Of a question to a person: when it is asked again */
  deadline?: string;
  deliveries?: number;
  /** An answer to what an earlier run of this agent asked */
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  handover?: Handover;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  notice?: string;
  priority?: Priority;
  proof?: Proof;
  /** An answer to an answer that asked nothing: it wakes nobody */
  quiet?: boolean;
  redelivered?: boolean;
  reply?: Message;
  response?: string;
  /** Of a post, and of mail that mentions a member */
  room?: string;
  seq?: number;
  thread?: string;
  ticket?: MessageID;
  wait?: WaitOutcome;
  /** To who wrote it, when it was stored: something is nearly full or spent */
  warning?: string;
}

/** ReceivedInput reports what a client has provably taken. */
export interface ReceivedInput {
  /** Messages whose text the client has taken */
  message_ids?: MessageID[];
  /** Messages that were reported as stalled, and that the session goes on with */
  moves?: MessageID[];
  /** The session was told of all mail up to this sequence */
  notified?: number;
  quota?: QuotaReport;
  /** Messages that the session has read, whose sender expects an answer, and without answering which its turn has ended */
  silent?: MessageID[];
  /** Messages that the session works on, and has made no step for too long */
  stalled?: MessageID[];
  /** What was started because of the mail up to notified: the program, by what, and with which rights */
  started?: string;
  /** What the session has used so far for messages it was given */
  used?: Used[];
}

/** RecentInput names an agent. */
export interface RecentInput {
  agent_id: AgentID;
  /** How many at the most; default 5 */
  limit?: number;
}

/** RegisterInput describes the caller. */
export interface RegisterInput {
  /** What this agent can help with, for example mqtt or review */
  capabilities?: string[];
  /** Working directory */
  cwd?: string;
  /** Seconds between your calls, at most 3600: you are online for three of them, instead of 90 seconds. 0 withdraws it */
  heartbeat_interval?: number;
  /** Host name */
  host?: string;
  /** A JSON object of at most 4 KiB */
  metadata?: Record<string, unknown>;
  /** Display name; defaults to the agent id */
  name?: string;
  /** Process id of the agent */
  pid?: number;
  /** Start time of that process, as its host counts it */
  pid_start?: number;
  /** Kind of client, for example claude-code or codex */
  type?: string;
}

/** A Registration is a row of list. */
export interface Registration {
  alias: AgentID;
  alive: boolean | null;
  rooms: string[];
}

/** RenameInput is a new name for the caller. */
export interface RenameInput {
  /** The new id; a bare name stays on your host */
  new_id: string;
}

/** A Renaming confirms a RenameInput. */
export interface Renaming {
  old_id: AgentID;
  id: AgentID;
  message: string;
}

/** ReplyInput answers a message. */
export interface ReplyInput {
  message_id: MessageID;
  /** Your answer, at most 50000 characters */
  response: string;
  /** Ids of files you have uploaded, which travel with the answer */
  attach?: string[];
  /** Idempotency key: the same key never replies twice */
  client_key?: string;
  /** Type of the answer's text, for example application/json */
  content_type?: string;
  /** Whether you expect an answer to this answer */
  expects_reply?: boolean;
  handed_to?: AgentID;
  /** A JSON object of at most 4 KiB that travels with the answer */
  metadata?: Record<string, unknown>;
  /** Default success */
  status?: "success" | "error" | "handed_over";
}

/** ResetReason says why a stream could not go on where it was asked to. */
export type ResetReason = "trimmed" | "epoch";

/** Retry says whether the same request may be made again. */
export type Retry = "no" | "later" | "same_key";

/** A Role says what a caller may do; Operation.Allows says it exactly. */
export type Role = "agent" | "runner" | "observer" | "human" | "admin";

/** A Room as a caller sees it. */
export interface Room {
  room: string;
  visibility: Visibility;
  creator: AgentID;
  members: number;
  /** That are kept */
  posts: number;
  joined: boolean;
  created: string;
  notify?: Notify;
  /** Of a room the caller is in */
  unread?: number;
}

/** RoomEnded says whether a room was there to end. */
export interface RoomEnded {
  room: string;
  /** That it had */
  members: number;
  /** That were forgotten with it */
  posts: number;
}

/** RoomHistoryInput pages back through a room. */
export interface RoomHistoryInput {
  /** Name of the room */
  room: string;
  /** Where to go on, further back: the next of an earlier answer */
  cursor?: string;
  /** How many at the most; 50 if left out */
  limit?: number;
}

/** RoomInput names a room. */
export interface RoomInput {
  /** Name of the room */
  room: string;
}

/** RoomInvitation is the argument of send_room_invite. */
export interface RoomInvitation {
  /** The room */
  room_id: string;
  /** Whom to invite */
  to_alias: string;
}

/** RoomInviteInput names whom to invite. */
export interface RoomInviteInput {
  /** Name of the room */
  room: string;
  /** Whom to invite: an id, or a bare name if only one agent has it */
  agent: string;
}

/** RoomInvited says whether an invitation was new, and whether it was told. */
export interface RoomInvited {
  room: string;
  agent: AgentID;
  /** It is one already, and needs no invitation */
  member: boolean;
  /** It had been invited before */
  already: boolean;
  notice?: string;
}

/** RoomJoinInput names the room to join. */
export interface RoomJoinInput {
  /** Name of the room; it is made if there is none */
  room: string;
  notify?: Notify;
  visibility?: Visibility;
}

/** RoomJoined is a room and the last that was said in it. */
export interface RoomJoined {
  room: string;
  visibility: Visibility;
  creator: AgentID;
  members: number;
  /** That are kept */
  posts: number;
  joined: boolean;
  created: string;
  /** By this call */
  made: boolean;
  /** The caller was a member before */
  already: boolean;
  messages: Message[];
  /** For room_history: what was said before */
  next?: string;
  /** What failed after the change was stored */
  notice?: string;
  notify?: Notify;
  /** Of a room the caller is in */
  unread?: number;
}

/** RoomLeft says what became of a membership. */
export interface RoomLeft {
  room: string;
  left: boolean;
  /** The caller was its last member; the room and its history stay */
  empty: boolean;
}

/** RoomListInput selects and pages. */
export interface RoomListInput {
  /** All rooms you can see; only those you are in if left out */
  all?: boolean;
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
}

/** RoomPostInput is something to be said in a room. */
export interface RoomPostInput {
  /** Name of the room */
  room: string;
  /** What to say, at most 50000 characters; @id of a member also sends it to that member as mail */
  message: string;
  /** Idempotency key: the same key never posts twice */
  client_key?: string;
  /** Type of the message text, for example application/json */
  content_type?: string;
  /** Background the others need, at most 50000 characters */
  context?: string;
}

/** RoomPruneInput says which members count as dead, or which rooms are over. */
export interface RoomPruneInput {
  /** Only say what would be done */
  dry_run?: boolean;
  /** Evict nobody; end rooms that have no members and were silent for so long */
  empty?: boolean;
  /** Seconds without a sign of life; a day if left out, and 30 days of empty rooms */
  older?: number;
  /** Only this room; all of them if left out */
  room?: string;
}

/** RoomPruned lists who was evicted, and which empty rooms ended. */
export interface RoomPruned {
  evicted: Eviction[];
  /** Empty rooms that have ended */
  ended: string[];
  dry_run: boolean;
  /** What failed after the change was stored */
  notice?: string;
}

/** RoomSetInput changes a room. */
export interface RoomSetInput {
  /** Name of the room */
  room: string;
  visibility: Visibility;
}

/** RoomVisibility is the argument of set_room_visibility. */
export interface RoomVisibility {
  /** The room */
  room_id: string;
  visibility: Visibility;
}

/** A SearchHit is a message that contains every word. */
export interface SearchHit {
  id: MessageID;
  from_agent: AgentID;
  at: string;
  /** The line with the first of the words, cut short */
  excerpt: string;
  /** Of a post */
  room?: string;
  /** Of mail */
  thread?: string;
  to_agent?: AgentID;
}

/** SearchInput says what to look for, and where to go on. */
export interface SearchInput {
  /** What to look for: messages that contain every word, in any case; at most 500 characters */
  words: string;
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
}

/** Self is an agent as it sees itself. */
export interface Self {
  id: AgentID;
  status: Status;
  availability: Availability;
  alive: boolean | null;
  paused: string | null;
  reachability: Reachability;
  capabilities: string[];
  rooms: string[];
  registered_at: string;
  last_seen: string;
  space: Space;
  epoch: number;
  unread: number;
  asked_id?: AgentID;
  client?: string;
  current_task?: string;
  cwd?: string;
  /** Seconds between its calls, as it declared */
  heartbeat_interval?: number;
  host?: string;
  /** Mail of sessions beside this one that have ended; of whoami */
  left_behind?: LeftBehind[];
  metadata?: Record<string, unknown>;
  name?: string;
  /** Says so in words */
  notice?: string;
  out_of_quota?: OutOfQuota;
  session_id?: string;
  state?: SessionState;
  /** When the coordinator first heard so; of one that is idle, that its turn had ended */
  state_since?: string;
  type?: string;
}

/** SendAll is the argument of send_all. */
export interface SendAll {
  /** The message, at most 50000 characters */
  content: string;
}

/** SendInput is a message to be sent. */
export interface SendInput {
  /** An agent's id, its name if only one has it, or role:NAME for any agent with that capability */
  target: string;
  /** At most 50000 characters */
  message: string;
  /** Ids of files you have uploaded, which travel with the message */
  attach?: string[];
  /** Idempotency key: the same key never sends twice */
  client_key?: string;
  /** Type of the message text, for example application/json */
  content_type?: string;
  /** Background the other agent needs */
  context?: string;
  /** Milliseconds after which an unanswered message counts as timed out; a later answer still counts */
  deadline_ms?: number;
  /** Default true */
  expects_reply?: boolean;
  /** queue (default) or fail when the agent is away */
  if_away?: "queue" | "fail";
  /** A JSON object of at most 4 KiB that travels with the message */
  metadata?: Record<string, unknown>;
  priority?: Priority;
  /** Thread to go on with; a new one if left out */
  thread?: string;
  /** Wait for the answer in this call */
  wait_seconds?: number;
}

/** SendRoom is the argument of send_room. */
export interface SendRoom {
  /** The room */
  room_id: string;
  /** What to say */
  content: string;
}

/** SendTo is the argument of send. */
export interface SendTo {
  /** Alias of the recipient */
  to_alias: string;
  /** The message, at most 50000 characters */
  content: string;
}

/** ServerInfo says what is running. */
export interface ServerInfo {
  version: string;
  commit: string;
  features: string[];
  node: string;
  space: Space;
  durability: Durability;
  schema: number;
  access: Access;
  /** Waits that sleep on this coordinator */
  waiters: number;
  /** That a file may have which travels with a message */
  file_bytes: number;
  /** That may travel with one message */
  message_files: number;
  /** "none" if callers are who they say they are */
  auth?: "none";
  engine?: Engine;
  /** Why all agents of the space are paused; empty if they are not */
  paused?: string;
}

/** A SessionState is what a session is known to be doing, by evidence. */
export type SessionState = "idle" | "waiting" | "working" | "starting" | "stopped" | "failed" | "dialog" | "unarmed" | "off" | "unattended" | "unknown" | "closed";

/** Sickness is the form of a failure that the API reference prints for health. */
export interface Sickness {
  status: "error";
  error: string;
}

/** A Space is the unit of visibility. */
export type Space = string;

/** Status says whether an agent can be reached over a connection right now. */
export type Status = "online" | "offline";

/** StatusInput is what an agent says of itself. */
export interface StatusInput {
  status: Availability;
  /** What you are working on, in a few words */
  current_task?: string;
}

/** StatusResult confirms a StatusInput. */
export interface StatusResult {
  success: boolean;
  id: AgentID;
  availability: Availability;
  current_task?: string;
}

/** A StreamStart says where a stream begins, or begins again. */
export interface StreamStart {
  /** Nothing is missing between the place that was asked for and this one */
  recovered: boolean;
  epoch: number;
  seq: number;
  reason?: ResetReason;
}

/** Stuck is who waits for whom. */
export interface Stuck {
  hold_ups: HoldUp[];
  /** There are older open tickets than were looked at */
  more?: boolean;
}

/** SweepInput says whom to sweep. */
export interface SweepInput {
  /** Only this agent, however short it was silent; not while a session of it runs */
  agent_id?: string;
  /** Only say who would be swept */
  dry_run?: boolean;
  /** Only agents that were silent for so long, for example 90m, 24h or 7d; 24h if left out */
  older?: string;
}

/** SweepResult says who was swept, or would be. */
export interface SweepResult {
  dry_run: boolean;
  swept: SweptAgent[];
  /** There are more than one call does: call again */
  more: boolean;
  /** What failed after the change was stored */
  notice?: string;
}

/** A SweptAgent is no longer registered. */
export interface SweptAgent {
  id: AgentID;
  /** Of lived time */
  silent_seconds: number;
  last_seen: string;
  /** Unread mail, now dead letters */
  letters: number;
}

/** ThreadInput names a thread, or any message of it. */
export interface ThreadInput {
  /** Thread id, or the id of a message in it */
  thread: string;
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
}

/** ThreadResumeInput names a conversation that is paused because its budget is spent. */
export interface ThreadResumeInput {
  /** Thread id, or the id of a message in it */
  thread: string;
}

/** ThreadResumed says whether it was paused. */
export interface ThreadResumed {
  thread: string;
  /** It was paused */
  resumed: boolean;
}

/** A Ticket is a message whose sender expects an answer; its id is the id of the message, also after somebody has handed it over. */
export interface Ticket {
  id: MessageID;
  from_agent: AgentID;
  to_agent: AgentID;
  thread: string;
  state: TicketState;
  created_at: string;
  /** In order; the first that hands nothing over is the answer */
  replies: Answered[];
  seq: number;
  cancelled_at?: string;
  deadline?: string;
  delivered_at?: string;
  /** Of one that has ended: how long the bridge dialect answers for it */
  kept_until?: string;
  responded_at?: string;
  /** The asked agent had read it and ended its turn without an answer; one may still come */
  silent_at?: string;
  /** Since when the agent that has it makes no step; it may go on */
  stalled_at?: string;
  timed_out_at?: string;
}

/** TicketState is how far a question has come. */
export type TicketState = "pending" | "delivered" | "responded" | "timed_out" | "cancelled";

/** TicketsInput selects and pages. */
export interface TicketsInput {
  /** Only the ticket you sent with this client_key */
  client_key?: string;
  /** Where to go on: the next of an earlier answer */
  cursor?: string;
  /** How many at the most */
  limit?: number;
  message_id?: MessageID;
  /** open or closed; both if left out */
  state?: "open" | "closed";
  /** asked by you, received by you, or all; both of yours if left out */
  which?: "asked" | "received" | "all";
}

/** A Token is what is known of a token. */
export interface Token {
  kid: string;
  role: Role;
  spaces: string[];
  /** Live, expired or revoked */
  state: "live" | "expired" | "revoked";
  created: string;
  expires: string;
  agents?: string;
  label?: string;
  /** Or up to TokenUseNoted later */
  last_used?: string;
  successor_of?: string;
}

/** TokenInput asks for a new token. */
export interface TokenInput {
  role: Role;
  /** The ids an agent or a runner may act as; * is any text within one part */
  agents?: string;
  label?: string;
  /** Names or patterns; the first, if it is a name, is where a caller is who names none */
  spaces?: string[];
}

/** Told says that a person was told of a question outside of c3po. */
export interface Told {
  /** Desktop, ntfy or webhook */
  channel: string;
  tries: number;
  /** Zero if it did not succeed yet */
  at?: string;
  /** That its deadline has passed */
  late?: boolean;
}

/** A Trace is the whole life of one message. */
export interface Trace {
  id: MessageID;
  seq: number;
  kind: Kind;
  thread: string;
  priority: Priority;
  expects_reply: boolean;
  bytes: number;
  /** Pending, acked, cancelled or dead */
  state: "pending" | "acked" | "cancelled" | "dead" | "posted";
  accepted: Fact;
  notified: Fact[];
  served: Fact[];
  received: Fact | null;
  ended: Fact | null;
  answered: Answered[];
  deliveries: number;
  body_gone?: boolean;
  chain_cost?: Cost;
  claimed?: Claim;
  cost?: Cost;
  /** Lived time left, in words a person reads */
  expires?: string;
  /** The thread that its sender reacted to with it, if it is another */
  follows?: string;
  goes_back_to?: Word;
  message_id?: MessageID;
  proof?: Proof;
  reachability?: Reachability;
  reason?: string;
  silent?: Fact;
  stalled?: Fact;
  /** Sessions that were resumed for it: what, by what and with which rights is in their session */
  started?: Fact[];
  /** Since when the session is in the state which that follows from */
  state_since?: string;
  /** Of OpenTelemetry: the same for all messages of the chain */
  trace_id?: string;
  /** It is in a person's name, and no passkey has confirmed it: it is withheld */
  unproved?: boolean;
}

/** Unregistered confirms the end of a session. */
export interface Unregistered {
  status: string;
  message: string;
}

/** A Usage is what a model has used, as its client counts it. */
export interface Usage {
  /** Tokens read from the model's cache */
  cache_read_tokens?: number;
  /** Tokens written to the model's cache */
  cache_write_tokens?: number;
  /** Tokens the model was sent, without those of its cache */
  input_tokens?: number;
  /** Millionths of a US dollar, if the client names a price */
  micro_usd?: number;
  /** Tokens the model wrote */
  output_tokens?: number;
}

/** Used reports what a session has used for one message since it was given the message. */
export interface Used {
  message_id: MessageID;
  usage: Usage;
  /** The session had other messages to answer at the same time: this is its part */
  shared?: boolean;
}

/** A Verdict is the person's decision on an approval. */
export interface Verdict {
  allow: boolean;
  hash: string;
  session: string;
  request: string;
  expires: string;
  folder?: string;
  /** What it is about, for the record; Hash binds it */
  tool?: string;
}

/** Visibility says who sees a room and may join it. */
export type Visibility = "public" | "invite_only";

/** A Wait is a question whose sender still waits for the answer. */
export interface Wait {
  id: MessageID;
  from_agent: AgentID;
  to_agent: AgentID;
  thread: string;
  state: TicketState;
  since: string;
  /** How many it has asked that one and waits for */
  questions: number;
  /** 1 waits for the hold-up itself, 2 for one that does */
  depth: number;
  /** Agents that wait for FromAgent, directly or through others */
  behind: number;
  deadline?: string;
  /** The one it waits for has read it and ended its turn without an answer */
  silent?: boolean;
  /** The one it waits for makes no step */
  stalled?: boolean;
}

/** A WaitEnd is the end of a wait that brought nothing, and where to go on. */
export interface WaitEnd {
  status: "timeout" | "retry" | "cancelled" | "expired" | "died" | "offline" | "superseded" | "paused" | "waiting_for_human" | "unanswered";
  code: Code;
  message: string;
  suggestion: string;
  seq: number;
  asked?: Asked;
  message_id?: MessageID;
  retry_after_ms?: number;
}

/** WaitInput says what to wait for. */
export interface WaitInput {
  /** Only mail after this sequence: the seq of the last answer */
  after?: number;
  asked?: Asked;
  /** incoming leaves answers out */
  kind?: "incoming";
  message_id?: MessageID;
  /** Seconds to wait, 1-3600, default 60 */
  timeout?: number;
}

/** A WaitOutcome is the end of a wait that brought nothing. */
export interface WaitOutcome {
  status: "timeout" | "retry" | "cancelled" | "expired" | "died" | "offline" | "superseded" | "paused" | "waiting_for_human" | "unanswered";
  code: Code;
  message: string;
  suggestion: string;
  asked?: Asked;
  message_id?: MessageID;
  retry_after_ms?: number;
}

/** A WaitResult is either a message or the reason there is none. */
export type WaitResult = Delivery | WaitEnd;

/** A Word is a message that a person wrote. */
export interface Word {
  id: MessageID;
  at: string;
  /** That confirmed it; empty if a token was enough */
  passkey?: string;
}
