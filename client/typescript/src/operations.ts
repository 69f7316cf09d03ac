// Generated from openapi.yaml by make contract, from the same table as the Go client.

import type * as wire from "./wire.js";

/** One part of a list. */
export interface Page<Row> {
  rows: Row[];
  /** The cursor to go on with; empty at the end. */
  next: string;
  /** How many there are in all, where the operation counts them. */
  count?: number;
}

/** What each operation takes and answers, by its name. */
export interface Operations {
  /** Check that the c3po coordinator answers. */
  ping: { in: wire.None; out: wire.Pong };
  /** List the agents of other programs and hosts you can reach through c3po, with their status. */
  list_agents: { in: wire.ListAgentsInput; out: Page<wire.Agent> };
  /** Describe yourself to other c3po agents (capabilities, type). Your first call registers you anyway. */
  register_agent: { in: wire.RegisterInput; out: wire.Self };
  /** Send a message to another c3po agent. */
  send_message: { in: wire.SendInput; out: wire.Receipt };
  /** Read your c3po inbox. Messages stay until you ack or answer them. */
  get_messages: { in: wire.GetMessagesInput; out: Page<wire.Message> };
  /** Answer a c3po message. This also acks it. */
  reply: { in: wire.ReplyInput; out: wire.Message };
  /** Wait for the next c3po message, or with message_id for the answer to one of yours. Cancelling loses nothing. */
  wait_for_message: { in: wire.WaitInput; out: wire.WaitResult };
  /** Mark c3po messages as dealt with, once you have acted on them or written down what matters. */
  ack_messages: { in: wire.AckInput; out: wire.AckResult };
  /** Tell other c3po agents whether you are available, busy or away. */
  set_status: { in: wire.StatusInput; out: wire.StatusResult };
  /** Ask the person for a decision through c3po. Other agents see that you wait for a human. */
  escalate_to_human: { in: wire.EscalateInput; out: wire.Escalation };
  /** Withdraw your c3po message if nobody has answered it yet. */
  cancel: { in: wire.MessageInput; out: wire.CancelResult };
  /** Show your own c3po id, space, and how much mail is unread. */
  whoami: { in: wire.None; out: wire.Self };
  /** Show one c3po agent: status, availability, task. */
  get_agent_status: { in: wire.AgentInput; out: wire.Agent };
  /** Read a c3po conversation back, oldest first. */
  get_thread: { in: wire.ThreadInput; out: Page<wire.Message> };
  /** Look at your c3po inbox without this counting as delivered. */
  peek: { in: wire.GetMessagesInput; out: Page<wire.Message> };
  /** Take a c3po message that was sent to your queue, so that no other agent works on it. */
  claim: { in: wire.MessageInput; out: wire.Message };
  /** List c3po agents in one short line each. */
  co_workers: { in: wire.ListAgentsInput; out: Page<wire.CoWorker> };
  /** Read a text file that came with a c3po message, from an offset on. */
  file_text: { in: wire.FileTextInput; out: wire.FileText };
  /** List who edits which files, with the lease of each. Editing takes a lease by itself, in repositories where leases are on. */
  lease_list: { in: wire.LeaseListInput; out: wire.LeaseList };
  /** Join a c3po room, making it if there is none. Answers with the last that was said in it. */
  room_join: { in: wire.RoomJoinInput; out: wire.RoomJoined };
  /** Leave a c3po room. */
  room_leave: { in: wire.RoomInput; out: wire.RoomLeft };
  /** Say something in a c3po room. Members read it with get_messages; no reply is expected. @id of a member also sends it as mail. */
  room_post: { in: wire.RoomPostInput; out: wire.PostReceipt };
  /** Read back what was said in a c3po room; each next page is further back. */
  room_history: { in: wire.RoomHistoryInput; out: Page<wire.Message> };
  /** List the c3po rooms you are in, or all you can see, with their member counts. */
  room_list: { in: wire.RoomListInput; out: Page<wire.Room> };
  /** Invite an agent into a c3po room you are in. */
  room_invite: { in: wire.RoomInviteInput; out: wire.RoomInvited };
  /** Make a c3po room you have created public or invite_only. */
  room_set: { in: wire.RoomSetInput; out: wire.Room };
  /** End a c3po room you have created: its members leave it and its history is forgotten. */
  room_end: { in: wire.RoomInput; out: wire.RoomEnded };
  /** Say something to every c3po agent, or to those of a type, capability or host. No reply is expected. */
  broadcast: { in: wire.BroadcastInput; out: wire.BroadcastReceipt };
  /** Show version, features and durability of the c3po coordinator. */
  server_info: { in: wire.None; out: wire.ServerInfo };
  /** Show the life of one c3po message: when it was accepted, served, acked, answered. */
  trace: { in: wire.MessageInput; out: wire.Trace };
  /** Show the latest c3po events: messages accepted, answered and acked, agents that came and went. Never what they say. */
  tail_log: { in: wire.LogInput; out: wire.LogPage };
  /** Remove c3po agents that were silent for long; their unread mail becomes dead letters. A person's act. */
  sweep: { in: wire.SweepInput; out: wire.SweepResult };
  /** Claim an alias for this c3po session. */
  c2c_register: { in: wire.Alias; out: wire.Self };
  /** Show your c3po alias. */
  c2c_whoami: { in: wire.None; out: wire.Self };
  /** List c3po registrations: who is alive, and in which rooms. */
  c2c_list: { in: wire.ListAgentsInput; out: Page<wire.Registration> };
  /** Send a message to one alias through c3po. */
  c2c_send: { in: wire.SendTo; out: wire.Receipt };
  /** Send a c3po message to every other live agent. */
  send_all: { in: wire.SendAll; out: wire.BroadcastReceipt };
  /** Read your c3po messages and take them out of the inbox. */
  poll_inbox: { in: wire.GetMessagesInput; out: Page<wire.Envelope> };
  /** Read your c3po messages and leave them in the inbox. */
  peek_inbox: { in: wire.GetMessagesInput; out: Page<wire.Envelope> };
  /** Join a c3po room, and read what was last said in it. */
  join_room: { in: wire.InRoom; out: wire.RoomJoined };
  /** Leave a c3po room. */
  leave_room: { in: wire.InRoom; out: wire.RoomLeft };
  /** Say something in a c3po room. */
  send_room: { in: wire.SendRoom; out: wire.PostReceipt };
  /** Read what was last said in a c3po room. */
  c2c_room_history: { in: wire.InRoom; out: Page<wire.Envelope> };
  /** List the c3po rooms you are in. */
  my_rooms: { in: wire.None; out: Page<wire.Room> };
  /** List all c3po rooms you can see. */
  list_rooms: { in: wire.None; out: Page<wire.Room> };
  /** Invite an alias to a c3po room. */
  send_room_invite: { in: wire.RoomInvitation; out: wire.RoomInvited };
  /** Make a c3po room public or invite_only. */
  set_room_visibility: { in: wire.RoomVisibility; out: wire.Room };
  /** End this session; the agent stays known and keeps its mail. */
  unregister: { in: wire.None; out: wire.Unregistered };
  /** Say that the process of an agent on your host has ended. */
  report_death: { in: wire.DeathInput; out: wire.DeathResult };
  /** Take another id; mail, tickets and roles move with you, and the old id answers for a day. */
  rename: { in: wire.RenameInput; out: wire.Renaming };
  /** Unacked mail, without recording that it was seen. */
  pending: { in: wire.PendingInput; out: wire.PendingResult };
  /** Report what a client has provably taken or been told of. */
  received: { in: wire.ReceivedInput; out: wire.AckResult };
  /** Make a place for a file, or find out how far its upload has come. */
  file_begin: { in: wire.FileInput; out: wire.FileState };
  /** Store the next part of a file. */
  file_append: { in: wire.FileChunkInput; out: wire.FileState };
  /** Read a part of a file that came with a message. */
  file_read: { in: wire.FileQuery; out: wire.FilePart };
  /** Show what takes the room for files: your own, to a person all. */
  file_list: { in: wire.FileListInput; out: wire.FileList };
  /** Drop a file to make room: one of yours that no message carries, as a person any. */
  file_drop: { in: wire.FileDropInput; out: wire.FileDropped };
  /** List questions and how far each has come. */
  tickets: { in: wire.TicketsInput; out: Page<wire.Ticket> };
  /** Who waits for whom; the agent that holds up the most comes first. */
  stuck: { in: wire.None; out: wire.Stuck };
  /** The last messages that an agent wrote or was written to. */
  recent: { in: wire.RecentInput; out: Page<wire.Message> };
  /** List conversations with their first and last line. */
  conversations: { in: wire.ConversationsInput; out: Page<wire.Conversation> };
  /** Find messages by their words, the newest first. */
  search: { in: wire.SearchInput; out: Page<wire.SearchHit> };
  /** Ask the person to allow a tool, once. */
  request_approval: { in: wire.ApprovalInput; out: wire.ApprovalAsked };
  /** Take the leases of files that are about to be edited, or learn who holds one. */
  lease_take: { in: wire.LeaseTakeInput; out: wire.LeaseTaken };
  /** End the leases of files that are committed or unchanged. */
  lease_release: { in: wire.LeaseReleaseInput; out: wire.LeaseReleased };
  /** Find files among those to commit whose leases others hold or have had since. */
  lease_check: { in: wire.LeaseCheckInput; out: wire.LeaseConflicts };
  /** End a lease, whoever holds it. */
  lease_break: { in: wire.LeaseBreakInput; out: wire.LeaseReleased };
  /** Questions that wait for the person. */
  human_list: { in: wire.GetMessagesInput; out: Page<wire.Message> };
  /** One question to the person, and what became of it. */
  human_show: { in: wire.MessageInput; out: wire.Question };
  /** Answer a question as the person. */
  human_answer: { in: wire.AnswerInput; out: wire.Message };
  /** Pause one agent or all. */
  pause: { in: wire.PauseInput; out: wire.PauseResult };
  /** Resume one agent or all. */
  resume: { in: wire.PauseInput; out: wire.PauseResult };
  /** Let a conversation go on whose budget is spent. */
  thread_resume: { in: wire.ThreadResumeInput; out: wire.ThreadResumed };
  /** Evict members from rooms that give no sign of life, or end rooms that are empty and silent. */
  room_prune: { in: wire.RoomPruneInput; out: wire.RoomPruned };
  /** Prove that no message is missing. */
  fsck: { in: wire.None; out: wire.Audit };
  /** List messages that ended unread: expired, damaged, or of a removed agent. */
  dead_letters: { in: wire.LettersInput; out: Page<wire.Letter> };
  /** Show one dead letter with its text. */
  dead_letter: { in: wire.MessageInput; out: wire.LetterView };
  /** Deliver dead letters again. */
  dead_letter_replay: { in: wire.LetterSelection; out: wire.LetterOutcome };
  /** Forget dead letters at once. */
  dead_letter_purge: { in: wire.LetterSelection; out: wire.LetterOutcome };
}

/** The operations that change nothing. */
export const readOnly: ReadonlySet<string> = new Set(["ping", "list_agents", "get_messages", "whoami", "get_agent_status", "get_thread", "peek", "co_workers", "file_text", "lease_list", "room_history", "room_list", "server_info", "trace", "tail_log", "c2c_whoami", "c2c_list", "peek_inbox", "c2c_room_history", "my_rooms", "list_rooms", "pending", "file_read", "file_list", "tickets", "stuck", "recent", "conversations", "search", "lease_check", "human_list", "human_show", "fsck", "dead_letters", "dead_letter"]);

/** The operations that take a key, under which a repeat is the same act. */
export const keyed: ReadonlySet<string> = new Set(["send_message", "reply", "escalate_to_human", "room_post", "broadcast", "human_answer"]);

/** The oldest and the newest protocol that is spoken here. */
export const protocol = "1-1";
