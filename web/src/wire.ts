// The shapes of the API that the page reads, as openapi.yaml describes them.

export type Role = "agent" | "runner" | "observer" | "human" | "admin";

export interface Agent {
  id: string;
  name?: string;
  status: "online" | "offline";
  availability: "available" | "busy" | "away";
  alive: boolean | null;
  paused: string | null;
  reachability: string;
  state?: string; // of its session, while that is connected
  state_since?: string;
  capabilities: string[];
  type?: string;
  host?: string;
  cwd?: string;
  rooms: string[];
  current_task?: string;
  client?: string;
  unread?: number;
  registered_at: string;
  last_seen: string;
  read: number; // when the page read it
}

export interface Message {
  id: string;
  message_id?: string;
  from_agent?: string;
  to_agent?: string;
  room?: string;
  kind?: string;
  message?: string;
  response?: string;
  context?: string;
  status?: string;
  timestamp?: string;
  thread?: string;
  priority?: string;
  expects_reply?: boolean;
  choices?: string[]; // of a question to a person
  deadline?: string;
  content_type?: string;
  metadata?: unknown;
  handed_to?: string;
  body_gone?: boolean;
}

export interface Fact {
  at: string;
  session?: string;
  route?: string;
  times?: number;
  durability?: string;
}

export interface Trace {
  id: string;
  kind: string;
  thread: string;
  state: string;
  reason?: string;
  accepted: Fact;
  notified: Fact[];
  served: Fact[];
  received: Fact | null;
  claimed?: { by: string; at: string };
  ended: Fact | null;
  answered: { id: string; at: string }[];
  deliveries: number;
  expires?: string;
}

export interface Ticket {
  id: string;
  from_agent: string;
  to_agent: string;
  thread: string;
  state: string;
  created_at: string;
  responded_at?: string;
  deadline?: string;
  seq: number;
}

export interface Event {
  seq: number;
  kind: string;
  agent?: string;
  room?: string;
  message_id?: string;
  at: string;
}

export interface Letter {
  id: string;
  from_agent: string;
  to_agent: string;
  kind: string;
  thread: string;
  reason: string;
  bytes: number;
  sent_at: string;
  died_at: string;
}

export interface LetterOutcome {
  done: string[];
  left: { id: string; why: string }[];
  more: boolean;
}

export interface Token {
  kid: string;
  role: Role;
  spaces: string[];
  agents?: string;
  label?: string;
  state: string;
  created: string;
  expires: string;
  last_used?: string;
}

export interface AuditEntry {
  id: string;
  at: string;
  event: string;
  kid?: string;
  role?: string;
  agent?: string;
  remote?: string;
  detail?: string;
}

export interface ServerInfo {
  version: string;
  node: string;
  space: string;
  durability: string;
  auth?: string;
}

// An id of a message names its sender and its reader: from::to::number.
export function ends(id: string): { from: string; to: string } {
  const [from = "", to = ""] = id.split("::");
  return { from, to };
}

export function textOf(m: Message): string {
  return (m.kind === "reply" ? m.response : m.message) ?? "";
}
