// Generated from openapi.yaml. Run make contract after a change of a type that is on the wire.

export interface Access {
  role: Role;
  agents?: string;
  expires?: string;
  kid?: string;
}

export interface AckResult {
  acked: MessageID[];
  already: MessageID[];
  unknown: MessageID[];
  not_yours: MessageID[];
  notice?: string;
  stale?: MessageID[];
  undecided?: MessageID[];
}

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
  heartbeat_interval?: number;
  host?: string;
  metadata?: Record<string, unknown>;
  name?: string;
  out_of_quota?: OutOfQuota;
  state?: SessionState;
  state_since?: string;
  type?: string;
  unread?: number;
}

export type AgentID = string;

export interface Answered {
  id: MessageID;
  at: string;
  moved_to?: MessageID;
  proof?: Proof;
  unproved?: boolean;
  verdict?: string;
}

export interface ApprovalAsked {
  message_id: MessageID;
  hash: string;
  expires: string;
}

export interface Asked {
  attached?: boolean;
  dead?: boolean;
  epoch?: number;
  id?: AgentID;
  online?: boolean;
  paused?: boolean;
}

export interface Attachment {
  id: string;
  name: string;
  size: number;
  sha256: string;
  type?: string;
}

export interface Audit {
  space: Space;
  epoch: number;
  sent: number;
  pending: number;
  acked: number;
  cancelled: number;
  dead: number;
  found_pending: number;
  bytes: number;
  found_bytes: number;
  agents: number;
  rooms: number;
  balanced: boolean;
  problems: string[];
}

export interface AuditEntry {
  id: string;
  at: string;
  event: string;
  agent?: string;
  detail?: string;
  hash?: string;
  kid?: string;
  n?: number;
  prev?: string;
  remote?: string;
  role?: Role;
  space?: string;
}

export interface AuditHead {
  n: number;
  hash: string;
}

export interface AuditHeads {
  deeds: AuditHead;
  refusals: AuditHead;
}

export type Availability = "available" | "busy" | "away";

export interface BroadcastReceipt {
  id: MessageID;
  seq: number;
  timestamp: string;
  durability: Durability;
  live: AgentID[];
  next?: string;
  notice?: string;
  warning?: string;
}

export type CancelOutcome = "cancelled" | "already" | "responded" | "ended" | "unknown" | "not_yours";

export interface CancelResult {
  message_id: MessageID;
  outcome: CancelOutcome;
  told: boolean;
  message: string;
}

export interface Claim {
  by: AgentID;
  at: string;
  released?: boolean;
}

export interface CoWorker {
  id: AgentID;
  status: Status;
  cwd?: string;
  type?: string;
}

export type Code = "INVALID_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "PROOF_REQUIRED" | "AGENT_NOT_FOUND" | "TICKET_NOT_FOUND" | "KEY_CONFLICT" | "AGENT_UNAVAILABLE" | "RATE_LIMITED" | "BUDGET_SPENT" | "INBOX_FULL" | "REDIS_UNAVAILABLE" | "STORE_FULL" | "UNKNOWN_OUTCOME" | "SUPERSEDED" | "COORD_DOWN" | "TIMEOUT" | "INTERNAL";

export interface Conversation {
  thread: string;
  last_at: string;
  turns: number;
  from_agent: AgentID;
  to_agent: AgentID;
  state: TicketState;
  last?: string;
  last_from?: AgentID;
  subject?: string;
}

export interface Cost {
  usage: Usage;
  clients?: string[];
  messages?: number;
  shared?: boolean;
}

export interface DeathResult {
  agent_id: AgentID;
  died: boolean;
}

export interface Delivery {
  id: MessageID;
  from_agent: AgentID;
  timestamp: string;
  unacked: number;
  seq: number;
  attachments?: Attachment[];
  body_gone?: boolean;
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  deadline?: string;
  deliveries?: number;
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  priority?: Priority;
  proof?: Proof;
  quiet?: boolean;
  redelivered?: boolean;
  response?: string;
  room?: string;
  status?: string;
  thread?: string;
  ticket?: MessageID;
  to_agent?: string;
  warning?: string;
}

export type Durability = "fsync" | "memory";

export interface Engine {
  name: "redis" | "valkey";
  version: string;
  eviction: string;
  problems: string[];
  memory_used: number;
  memory_max: number;
  rewriting: boolean;
  disk_free?: number;
}

export interface Error {
  code: Code;
  error: string;
  suggestion: string;
  retry: Retry;
  proof?: string;
}

export interface Escalation {
  success: boolean;
  message_id: MessageID;
  paused: string;
  message: string;
  deadline?: string;
}

export interface Event {
  seq: number;
  kind: EventKind;
  at: string;
  agent?: AgentID;
  message_id?: MessageID;
  node?: string;
  room?: string;
}

export type EventKind = "accepted" | "answered" | "acked" | "dead" | "delivered" | "timed_out" | "cancelled" | "claimed" | "released" | "redelivered" | "renamed" | "retired" | "registered" | "unregistered" | "died" | "paused" | "resumed" | "posted" | "joined" | "left" | "room_ended" | "rollback";

export interface Eviction {
  room: string;
  agent: AgentID;
  last_seen: string;
}

export interface Fact {
  at: string;
  durability?: Durability;
  route?: string;
  session?: string;
  times?: number;
}

export interface FileDropped {
  bytes: number;
}

export interface FileHolder {
  agent: AgentID;
  bytes: number;
}

export interface FileList {
  bytes: number;
  max_bytes: number;
  holders: FileHolder[];
  files: HeldFile[];
  next_cursor?: string;
}

export interface FilePart {
  id: string;
  name: string;
  size: number;
  sha256: string;
  offset: number;
  data: string;
  type?: string;
}

export interface FileState {
  id: string;
  name: string;
  size: number;
  sha256: string;
  offset: number;
  complete: boolean;
  type?: string;
}

export interface FileText {
  id: string;
  name: string;
  size: number;
  sha256: string;
  offset: number;
  binary?: boolean;
  next?: number;
  text?: string;
  type?: string;
}

export interface Health {
  status: "ok";
  agents_online: number;
}

export interface HeldFile {
  id: string;
  name: string;
  size: number;
  sha256: string;
  from: AgentID;
  offset: number;
  messages: number;
  ends_in?: number;
  type?: string;
}

export interface HoldUp {
  agent: AgentID;
  behind: number;
  waits: Wait[];
  circle?: boolean;
  reachability?: Reachability;
}

export interface Invited {
  address: string;
  hash: string;
  secret: string;
  expires: string;
  pin?: string;
}

export interface Joined {
  host: string;
  spaces: string[];
  person_token?: string;
  runner_token?: string;
  token?: string;
}

export type Kind = "message" | "reply" | "bounce" | "notice" | "escalation" | "approval" | "cancelled" | "post" | "broadcast";

export interface Lease {
  number: number;
  repository: string;
  path: string;
  holder: AgentID;
  since: string;
  edited: string;
  branch?: string;
  ended?: string;
  task?: string;
  tree?: string;
}

export interface LeaseConflicts {
  leases: Lease[];
}

export interface LeaseList {
  leases: Lease[];
}

export interface LeaseReleased {
  released: number;
}

export interface LeaseTaken {
  held?: Lease;
  numbers?: number[];
}

export interface LeftBehind {
  id: AgentID;
  unread: number;
}

export interface Letter {
  id: MessageID;
  from_agent: AgentID;
  to_agent: AgentID;
  kind: Kind;
  thread: string;
  reason: "expired" | "corrupt" | "recipient_removed";
  bytes: number;
  sent_at: string;
  died_at: string;
}

export interface LetterLeft {
  id: MessageID;
  why: string;
}

export interface LetterOutcome {
  done: MessageID[];
  left: LetterLeft[];
  more: boolean;
  notice?: string;
  undecided?: MessageID[];
}

export interface LetterView {
  letter: Letter;
  message: Message;
}

export interface Liveness {
  status: "ok";
  version: string;
}

export interface LogPage {
  events: Event[];
  at: string;
  more?: boolean;
  reset?: ResetReason;
}

export interface Login {
  token: string;
  role: Role;
  spaces: string[];
  expires: string;
}

export interface LoginLink {
  code: string;
  expires: string;
}

export interface Message {
  id: MessageID;
  from_agent: AgentID;
  timestamp: string;
  attachments?: Attachment[];
  body_gone?: boolean;
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  deadline?: string;
  deliveries?: number;
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  priority?: Priority;
  proof?: Proof;
  quiet?: boolean;
  redelivered?: boolean;
  response?: string;
  room?: string;
  seq?: number;
  status?: string;
  thread?: string;
  ticket?: MessageID;
  to_agent?: string;
  warning?: string;
}

export type MessageID = string;

export interface NewToken {
  kid: string;
  role: Role;
  spaces: string[];
  state: "live" | "expired" | "revoked";
  created: string;
  expires: string;
  token: string;
  agents?: string;
  label?: string;
  last_used?: string;
  successor_of?: string;
}

export type Notify = "all" | "mentions" | "none";

export interface OutOfQuota {
  until: string;
  exact: boolean;
  since: string;
  evidence?: string;
}

export interface Passkey {
  id: string;
  name: string;
  site: string;
  created: string;
}

export interface PasskeyOffer {
  id: string;
  options: Record<string, unknown>;
}

export interface Passkeys {
  policy: ProofPolicy;
  passkeys: Passkey[];
  pages: string[];
  reset_at?: string;
}

export interface PauseResult {
  paused: string | null;
  agent_id?: AgentID;
  all?: boolean;
  notice?: string;
}

export interface Pending {
  count: number;
  messages: Message[];
  seq: number;
  next?: string;
  paused?: string;
  room_unread?: number;
}

export type PendingResult = Pending | WaitOutcome;

export interface Pong {
  pong: boolean;
  timestamp: string;
}

export interface PostReceipt {
  id: MessageID;
  room: string;
  seq: number;
  timestamp: string;
  durability: Durability;
  members: number;
  mailed: AgentID[];
  notice?: string;
  warning?: string;
}

export type Priority = "normal" | "urgent";

export interface Proof {
  id: string;
  passkey: string;
  at: string;
}

export type ProofPolicy = "off" | "decisions" | "everything";

export interface ProofRequest {
  id: string;
  code: string;
  act: Act;
  expires: string;
  state: ProofState;
  options?: Record<string, unknown>;
}

export type ProofState = "waits" | "signed" | "used";

export interface PushKey {
  key: string;
}

export interface PushState {
  on: boolean;
}

export interface Question {
  id: MessageID;
  from_agent: AgentID;
  timestamp: string;
  state: TicketState;
  told: Told[];
  attachments?: Attachment[];
  body_gone?: boolean;
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  deadline?: string;
  deliveries?: number;
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  priority?: Priority;
  proof?: Proof;
  quiet?: boolean;
  redelivered?: boolean;
  reply?: Message;
  response?: string;
  room?: string;
  seq?: number;
  status?: string;
  thread?: string;
  ticket?: MessageID;
  to_agent?: string;
  warning?: string;
}

export type Reachability = "now" | "next_step" | "next_call" | "when_retried" | "when_quota_returns" | "when_person_returns" | "when_resumed" | "waiting_for_human" | "when_dialog_closes" | "when_switched_on" | "next_session" | "unknown" | "starts_when_mailed" | "offline";

export interface Readiness {
  status: "ready" | "not_ready";
  reasons: string[];
}

export interface Receipt {
  id: MessageID;
  from_agent: AgentID;
  to_agent: string;
  status: string;
  timestamp: string;
  durability: Durability;
  recipient: Status;
  reachability: Reachability;
  attachments?: Attachment[];
  body_gone?: boolean;
  choices?: string[];
  claim?: Claim;
  content_type?: string;
  context?: string;
  deadline?: string;
  deliveries?: number;
  earlier_run?: boolean;
  expects_reply?: boolean;
  goes_back_to?: Word;
  handed_from?: AgentID;
  handed_to?: AgentID;
  kind?: Kind;
  message?: string;
  message_id?: MessageID;
  metadata?: Record<string, unknown>;
  notice?: string;
  priority?: Priority;
  proof?: Proof;
  quiet?: boolean;
  redelivered?: boolean;
  reply?: Message;
  response?: string;
  room?: string;
  seq?: number;
  thread?: string;
  ticket?: MessageID;
  wait?: WaitOutcome;
  warning?: string;
}

export interface Remote {
  agent_id: AgentID;
  url: string;
  kid: string;
}

export interface Renaming {
  old_id: AgentID;
  id: AgentID;
  message: string;
}

export type ResetReason = "trimmed" | "epoch";

export type Retry = "no" | "later" | "same_key";

export type Role = "agent" | "runner" | "observer" | "human" | "admin";

export interface Room {
  room: string;
  visibility: Visibility;
  creator: AgentID;
  members: number;
  posts: number;
  joined: boolean;
  created: string;
  notify?: Notify;
  unread?: number;
}

export interface RoomEnded {
  room: string;
  members: number;
  posts: number;
}

export interface RoomInvited {
  room: string;
  agent: AgentID;
  member: boolean;
  already: boolean;
  notice?: string;
}

export interface RoomJoined {
  room: string;
  visibility: Visibility;
  creator: AgentID;
  members: number;
  posts: number;
  joined: boolean;
  created: string;
  made: boolean;
  already: boolean;
  messages: Message[];
  next?: string;
  notice?: string;
  notify?: Notify;
  unread?: number;
}

export interface RoomLeft {
  room: string;
  left: boolean;
  empty: boolean;
}

export interface RoomPruned {
  evicted: Eviction[];
  ended: string[];
  dry_run: boolean;
  notice?: string;
}

export interface SearchHit {
  id: MessageID;
  from_agent: AgentID;
  at: string;
  excerpt: string;
  room?: string;
  thread?: string;
  to_agent?: AgentID;
}

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
  heartbeat_interval?: number;
  host?: string;
  left_behind?: LeftBehind[];
  metadata?: Record<string, unknown>;
  name?: string;
  notice?: string;
  out_of_quota?: OutOfQuota;
  session_id?: string;
  state?: SessionState;
  state_since?: string;
  type?: string;
}

export interface ServerInfo {
  version: string;
  commit: string;
  features: string[];
  node: string;
  space: Space;
  durability: Durability;
  schema: number;
  access: Access;
  waiters: number;
  file_bytes: number;
  auth?: "none";
  engine?: Engine;
  paused?: string;
}

export type SessionState = "idle" | "waiting" | "working" | "failed" | "dialog" | "unarmed" | "off" | "unattended" | "unknown" | "closed";

export interface Sickness {
  status: "error";
  error: string;
}

export type Space = string;

export type Status = "online" | "offline";

export interface StatusResult {
  success: boolean;
  id: AgentID;
  availability: Availability;
  current_task?: string;
}

export interface Stuck {
  hold_ups: HoldUp[];
  more?: boolean;
}

export interface SweepResult {
  dry_run: boolean;
  swept: SweptAgent[];
  more: boolean;
  notice?: string;
}

export interface SweptAgent {
  id: AgentID;
  silent_seconds: number;
  last_seen: string;
  letters: number;
}

export interface ThreadResumed {
  thread: string;
  resumed: boolean;
}

export interface Ticket {
  id: MessageID;
  from_agent: AgentID;
  to_agent: AgentID;
  thread: string;
  state: TicketState;
  created_at: string;
  replies: Answered[];
  seq: number;
  cancelled_at?: string;
  deadline?: string;
  delivered_at?: string;
  kept_until?: string;
  responded_at?: string;
  silent_at?: string;
  stalled_at?: string;
  timed_out_at?: string;
}

export type TicketState = "pending" | "delivered" | "responded" | "timed_out" | "cancelled";

export interface Token {
  kid: string;
  role: Role;
  spaces: string[];
  state: "live" | "expired" | "revoked";
  created: string;
  expires: string;
  agents?: string;
  label?: string;
  last_used?: string;
  successor_of?: string;
}

export interface Told {
  channel: string;
  tries: number;
  at?: string;
  late?: boolean;
}

export interface Trace {
  id: MessageID;
  seq: number;
  kind: Kind;
  thread: string;
  priority: Priority;
  expects_reply: boolean;
  bytes: number;
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
  expires?: string;
  follows?: string;
  goes_back_to?: Word;
  message_id?: MessageID;
  proof?: Proof;
  reachability?: Reachability;
  reason?: string;
  silent?: Fact;
  stalled?: Fact;
  started?: Fact[];
  state_since?: string;
  unproved?: boolean;
}

export interface Unregistered {
  status: string;
  message: string;
}

export interface Usage {
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  input_tokens?: number;
  micro_usd?: number;
  output_tokens?: number;
}

export interface Verdict {
  allow: boolean;
  hash: string;
  session: string;
  request: string;
  expires: string;
  folder?: string;
  tool?: string;
}

export type Visibility = "public" | "invite_only";

export interface Wait {
  id: MessageID;
  from_agent: AgentID;
  to_agent: AgentID;
  thread: string;
  state: TicketState;
  since: string;
  questions: number;
  depth: number;
  behind: number;
  deadline?: string;
  silent?: boolean;
  stalled?: boolean;
}

export interface WaitEnd {
  status: "timeout" | "retry" | "cancelled" | "expired" | "died" | "offline" | "superseded" | "paused" | "waiting_for_human";
  code: Code;
  message: string;
  suggestion: string;
  seq: number;
  asked?: Asked;
  message_id?: MessageID;
  retry_after_ms?: number;
}

export interface WaitOutcome {
  status: "timeout" | "retry" | "cancelled" | "expired" | "died" | "offline" | "superseded" | "paused" | "waiting_for_human";
  code: Code;
  message: string;
  suggestion: string;
  asked?: Asked;
  message_id?: MessageID;
  retry_after_ms?: number;
}

export type WaitResult = Delivery | WaitEnd;

export interface Word {
  id: MessageID;
  at: string;
  passkey?: string;
}
