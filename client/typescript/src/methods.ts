// Generated from openapi.yaml by make contract, from the same table as the Go client.

import type { CallOptions } from "./connection.js";
import type { Operations, Page } from "./operations.js";
import type * as wire from "./wire.js";

/** A method for each operation of the table. */
export abstract class Methods {
  abstract call<Name extends keyof Operations>(name: Name, input: Operations[Name]["in"], options?: CallOptions): Promise<Operations[Name]["out"]>;

  /** Check that the c3po coordinator answers. */
  ping(input: wire.None = {}, options?: CallOptions): Promise<wire.Pong> {
    return this.call("ping", input, options);
  }

  /** List the agents of other programs and hosts you can reach through c3po, with their status. */
  listAgents(input: wire.ListAgentsInput = {}, options?: CallOptions): Promise<Page<wire.Agent>> {
    return this.call("list_agents", input, options);
  }

  /** Describe yourself to other c3po agents (capabilities, type). Your first call registers you anyway. */
  registerAgent(input: wire.RegisterInput = {}, options?: CallOptions): Promise<wire.Self> {
    return this.call("register_agent", input, options);
  }

  /** Send a message to another c3po agent. */
  sendMessage(input: wire.SendInput, options?: CallOptions): Promise<wire.Receipt> {
    return this.call("send_message", input, options);
  }

  /** Read your c3po inbox. Messages stay until you ack or answer them. */
  getMessages(input: wire.GetMessagesInput = {}, options?: CallOptions): Promise<Page<wire.Message>> {
    return this.call("get_messages", input, options);
  }

  /** Answer a c3po message. This also acks it. */
  reply(input: wire.ReplyInput, options?: CallOptions): Promise<wire.Message> {
    return this.call("reply", input, options);
  }

  /** Wait for the next c3po message, or with message_id for the answer to one of yours. Cancelling loses nothing. */
  waitForMessage(input: wire.WaitInput = {}, options?: CallOptions): Promise<wire.WaitResult> {
    return this.call("wait_for_message", input, options);
  }

  /** Mark c3po messages as dealt with, once you have acted on them or written down what matters. */
  ackMessages(input: wire.AckInput, options?: CallOptions): Promise<wire.AckResult> {
    return this.call("ack_messages", input, options);
  }

  /** Tell other c3po agents whether you are available, busy or away. */
  setStatus(input: wire.StatusInput, options?: CallOptions): Promise<wire.StatusResult> {
    return this.call("set_status", input, options);
  }

  /** Ask the person for a decision through c3po. Other agents see that you wait for a human. */
  escalateToHuman(input: wire.EscalateInput, options?: CallOptions): Promise<wire.Escalation> {
    return this.call("escalate_to_human", input, options);
  }

  /** Withdraw your c3po message if nobody has answered it yet. */
  cancel(input: wire.MessageInput, options?: CallOptions): Promise<wire.CancelResult> {
    return this.call("cancel", input, options);
  }

  /** Show your own c3po id, space, and how much mail is unread. */
  whoami(input: wire.None = {}, options?: CallOptions): Promise<wire.Self> {
    return this.call("whoami", input, options);
  }

  /** Show one c3po agent: status, availability, task. */
  getAgentStatus(input: wire.AgentInput, options?: CallOptions): Promise<wire.Agent> {
    return this.call("get_agent_status", input, options);
  }

  /** Read a c3po conversation back, oldest first. */
  getThread(input: wire.ThreadInput, options?: CallOptions): Promise<Page<wire.Message>> {
    return this.call("get_thread", input, options);
  }

  /** Look at your c3po inbox without this counting as delivered. */
  peek(input: wire.GetMessagesInput = {}, options?: CallOptions): Promise<Page<wire.Message>> {
    return this.call("peek", input, options);
  }

  /** Take a c3po message that was sent to your queue, so that no other agent works on it. */
  claim(input: wire.MessageInput, options?: CallOptions): Promise<wire.Message> {
    return this.call("claim", input, options);
  }

  /** List c3po agents in one short line each. */
  coWorkers(input: wire.ListAgentsInput = {}, options?: CallOptions): Promise<Page<wire.CoWorker>> {
    return this.call("co_workers", input, options);
  }

  /** Read a text file that came with a c3po message, from an offset on. */
  fileText(input: wire.FileTextInput, options?: CallOptions): Promise<wire.FileText> {
    return this.call("file_text", input, options);
  }

  /** List who edits which files, with the lease of each. Editing takes a lease by itself, in repositories where leases are on. */
  leaseList(input: wire.LeaseListInput = {}, options?: CallOptions): Promise<wire.LeaseList> {
    return this.call("lease_list", input, options);
  }

  /** Join a c3po room, making it if there is none. Answers with the last that was said in it. */
  roomJoin(input: wire.RoomJoinInput, options?: CallOptions): Promise<wire.RoomJoined> {
    return this.call("room_join", input, options);
  }

  /** Leave a c3po room. */
  roomLeave(input: wire.RoomInput, options?: CallOptions): Promise<wire.RoomLeft> {
    return this.call("room_leave", input, options);
  }

  /** Say something in a c3po room. Members read it with get_messages; no reply is expected. @id of a member also sends it as mail. */
  roomPost(input: wire.RoomPostInput, options?: CallOptions): Promise<wire.PostReceipt> {
    return this.call("room_post", input, options);
  }

  /** Read back what was said in a c3po room; each next page is further back. */
  roomHistory(input: wire.RoomHistoryInput, options?: CallOptions): Promise<Page<wire.Message>> {
    return this.call("room_history", input, options);
  }

  /** List the c3po rooms you are in, or all you can see, with their member counts. */
  roomList(input: wire.RoomListInput = {}, options?: CallOptions): Promise<Page<wire.Room>> {
    return this.call("room_list", input, options);
  }

  /** Invite an agent into a c3po room you are in. */
  roomInvite(input: wire.RoomInviteInput, options?: CallOptions): Promise<wire.RoomInvited> {
    return this.call("room_invite", input, options);
  }

  /** Make a c3po room you have created public or invite_only. */
  roomSet(input: wire.RoomSetInput, options?: CallOptions): Promise<wire.Room> {
    return this.call("room_set", input, options);
  }

  /** End a c3po room you have created: its members leave it and its history is forgotten. */
  roomEnd(input: wire.RoomInput, options?: CallOptions): Promise<wire.RoomEnded> {
    return this.call("room_end", input, options);
  }

  /** Say something to every c3po agent, or to those of a type, capability or host. No reply is expected. */
  broadcast(input: wire.BroadcastInput = {}, options?: CallOptions): Promise<wire.BroadcastReceipt> {
    return this.call("broadcast", input, options);
  }

  /** Show version, features and durability of the c3po coordinator. */
  serverInfo(input: wire.None = {}, options?: CallOptions): Promise<wire.ServerInfo> {
    return this.call("server_info", input, options);
  }

  /** Show the life of one c3po message: when it was accepted, served, acked, answered. */
  trace(input: wire.MessageInput, options?: CallOptions): Promise<wire.Trace> {
    return this.call("trace", input, options);
  }

  /** Show the latest c3po events: messages accepted, answered and acked, agents that came and went. Never what they say. */
  tailLog(input: wire.LogInput = {}, options?: CallOptions): Promise<wire.LogPage> {
    return this.call("tail_log", input, options);
  }

  /** Remove c3po agents that were silent for long; their unread mail becomes dead letters. A person's act. */
  sweep(input: wire.SweepInput = {}, options?: CallOptions): Promise<wire.SweepResult> {
    return this.call("sweep", input, options);
  }

  /** Claim an alias for this c3po session. */
  c2cRegister(input: wire.Alias = {}, options?: CallOptions): Promise<wire.Self> {
    return this.call("c2c_register", input, options);
  }

  /** Show your c3po alias. */
  c2cWhoami(input: wire.None = {}, options?: CallOptions): Promise<wire.Self> {
    return this.call("c2c_whoami", input, options);
  }

  /** List c3po registrations: who is alive, and in which rooms. */
  c2cList(input: wire.ListAgentsInput = {}, options?: CallOptions): Promise<Page<wire.Registration>> {
    return this.call("c2c_list", input, options);
  }

  /** Send a message to one alias through c3po. */
  c2cSend(input: wire.SendTo, options?: CallOptions): Promise<wire.Receipt> {
    return this.call("c2c_send", input, options);
  }

  /** Send a c3po message to every other live agent. */
  sendAll(input: wire.SendAll, options?: CallOptions): Promise<wire.BroadcastReceipt> {
    return this.call("send_all", input, options);
  }

  /** Read your c3po messages and take them out of the inbox. */
  pollInbox(input: wire.GetMessagesInput = {}, options?: CallOptions): Promise<Page<wire.Envelope>> {
    return this.call("poll_inbox", input, options);
  }

  /** Read your c3po messages and leave them in the inbox. */
  peekInbox(input: wire.GetMessagesInput = {}, options?: CallOptions): Promise<Page<wire.Envelope>> {
    return this.call("peek_inbox", input, options);
  }

  /** Join a c3po room, and read what was last said in it. */
  joinRoom(input: wire.InRoom, options?: CallOptions): Promise<wire.RoomJoined> {
    return this.call("join_room", input, options);
  }

  /** Leave a c3po room. */
  leaveRoom(input: wire.InRoom, options?: CallOptions): Promise<wire.RoomLeft> {
    return this.call("leave_room", input, options);
  }

  /** Say something in a c3po room. */
  sendRoom(input: wire.SendRoom, options?: CallOptions): Promise<wire.PostReceipt> {
    return this.call("send_room", input, options);
  }

  /** Read what was last said in a c3po room. */
  c2cRoomHistory(input: wire.InRoom, options?: CallOptions): Promise<Page<wire.Envelope>> {
    return this.call("c2c_room_history", input, options);
  }

  /** List the c3po rooms you are in. */
  myRooms(input: wire.None = {}, options?: CallOptions): Promise<Page<wire.Room>> {
    return this.call("my_rooms", input, options);
  }

  /** List all c3po rooms you can see. */
  listRooms(input: wire.None = {}, options?: CallOptions): Promise<Page<wire.Room>> {
    return this.call("list_rooms", input, options);
  }

  /** Invite an alias to a c3po room. */
  sendRoomInvite(input: wire.RoomInvitation, options?: CallOptions): Promise<wire.RoomInvited> {
    return this.call("send_room_invite", input, options);
  }

  /** Make a c3po room public or invite_only. */
  setRoomVisibility(input: wire.RoomVisibility, options?: CallOptions): Promise<wire.Room> {
    return this.call("set_room_visibility", input, options);
  }

  /** End this session; the agent stays known and keeps its mail. */
  unregister(input: wire.None = {}, options?: CallOptions): Promise<wire.Unregistered> {
    return this.call("unregister", input, options);
  }

  /** Say that the process of an agent on your host has ended. */
  reportDeath(input: wire.DeathInput, options?: CallOptions): Promise<wire.DeathResult> {
    return this.call("report_death", input, options);
  }

  /** Take another id; mail, tickets and roles move with you, and the old id answers for a day. */
  rename(input: wire.RenameInput, options?: CallOptions): Promise<wire.Renaming> {
    return this.call("rename", input, options);
  }

  /** Unacked mail, without recording that it was seen. */
  pending(input: wire.PendingInput = {}, options?: CallOptions): Promise<wire.PendingResult> {
    return this.call("pending", input, options);
  }

  /** Report what a client has provably taken or been told of. */
  received(input: wire.ReceivedInput = {}, options?: CallOptions): Promise<wire.AckResult> {
    return this.call("received", input, options);
  }

  /** Make a place for a file, or find out how far its upload has come. */
  fileBegin(input: wire.FileInput, options?: CallOptions): Promise<wire.FileState> {
    return this.call("file_begin", input, options);
  }

  /** Store the next part of a file. */
  fileAppend(input: wire.FileChunkInput, options?: CallOptions): Promise<wire.FileState> {
    return this.call("file_append", input, options);
  }

  /** Read a part of a file that came with a message. */
  fileRead(input: wire.FileQuery, options?: CallOptions): Promise<wire.FilePart> {
    return this.call("file_read", input, options);
  }

  /** Show what takes the room for files: your own, to a person all. */
  fileList(input: wire.FileListInput = {}, options?: CallOptions): Promise<wire.FileList> {
    return this.call("file_list", input, options);
  }

  /** Drop a file to make room: one of yours that no message carries, as a person any. */
  fileDrop(input: wire.FileDropInput, options?: CallOptions): Promise<wire.FileDropped> {
    return this.call("file_drop", input, options);
  }

  /** List questions and how far each has come. */
  tickets(input: wire.TicketsInput = {}, options?: CallOptions): Promise<Page<wire.Ticket>> {
    return this.call("tickets", input, options);
  }

  /** Who waits for whom; the agent that holds up the most comes first. */
  stuck(input: wire.None = {}, options?: CallOptions): Promise<wire.Stuck> {
    return this.call("stuck", input, options);
  }

  /** The last messages that an agent wrote or was written to. */
  recent(input: wire.RecentInput, options?: CallOptions): Promise<Page<wire.Message>> {
    return this.call("recent", input, options);
  }

  /** List conversations with their first and last line. */
  conversations(input: wire.ConversationsInput = {}, options?: CallOptions): Promise<Page<wire.Conversation>> {
    return this.call("conversations", input, options);
  }

  /** Find messages by their words, the newest first. */
  search(input: wire.SearchInput, options?: CallOptions): Promise<Page<wire.SearchHit>> {
    return this.call("search", input, options);
  }

  /** Ask the person to allow a tool, once. */
  requestApproval(input: wire.ApprovalInput, options?: CallOptions): Promise<wire.ApprovalAsked> {
    return this.call("request_approval", input, options);
  }

  /** Take the leases of files that are about to be edited, or learn who holds one. */
  leaseTake(input: wire.LeaseTakeInput, options?: CallOptions): Promise<wire.LeaseTaken> {
    return this.call("lease_take", input, options);
  }

  /** End the leases of files that are committed or unchanged. */
  leaseRelease(input: wire.LeaseReleaseInput, options?: CallOptions): Promise<wire.LeaseReleased> {
    return this.call("lease_release", input, options);
  }

  /** Find files among those to commit whose leases others hold or have had since. */
  leaseCheck(input: wire.LeaseCheckInput, options?: CallOptions): Promise<wire.LeaseConflicts> {
    return this.call("lease_check", input, options);
  }

  /** End a lease, whoever holds it. */
  leaseBreak(input: wire.LeaseBreakInput, options?: CallOptions): Promise<wire.LeaseReleased> {
    return this.call("lease_break", input, options);
  }

  /** Questions that wait for the person. */
  humanList(input: wire.GetMessagesInput = {}, options?: CallOptions): Promise<Page<wire.Message>> {
    return this.call("human_list", input, options);
  }

  /** One question to the person, and what became of it. */
  humanShow(input: wire.MessageInput, options?: CallOptions): Promise<wire.Question> {
    return this.call("human_show", input, options);
  }

  /** Answer a question as the person. */
  humanAnswer(input: wire.AnswerInput, options?: CallOptions): Promise<wire.Message> {
    return this.call("human_answer", input, options);
  }

  /** Pause one agent or all. */
  pause(input: wire.PauseInput = {}, options?: CallOptions): Promise<wire.PauseResult> {
    return this.call("pause", input, options);
  }

  /** Resume one agent or all. */
  resume(input: wire.PauseInput = {}, options?: CallOptions): Promise<wire.PauseResult> {
    return this.call("resume", input, options);
  }

  /** Let a conversation go on whose budget is spent. */
  threadResume(input: wire.ThreadResumeInput, options?: CallOptions): Promise<wire.ThreadResumed> {
    return this.call("thread_resume", input, options);
  }

  /** Evict members from rooms that give no sign of life, or end rooms that are empty and silent. */
  roomPrune(input: wire.RoomPruneInput = {}, options?: CallOptions): Promise<wire.RoomPruned> {
    return this.call("room_prune", input, options);
  }

  /** Prove that no message is missing. */
  fsck(input: wire.None = {}, options?: CallOptions): Promise<wire.Audit> {
    return this.call("fsck", input, options);
  }

  /** List messages that ended unread: expired, damaged, or of a removed agent. */
  deadLetters(input: wire.LettersInput = {}, options?: CallOptions): Promise<Page<wire.Letter>> {
    return this.call("dead_letters", input, options);
  }

  /** Show one dead letter with its text. */
  deadLetter(input: wire.MessageInput, options?: CallOptions): Promise<wire.LetterView> {
    return this.call("dead_letter", input, options);
  }

  /** Deliver dead letters again. */
  deadLetterReplay(input: wire.LetterSelection = {}, options?: CallOptions): Promise<wire.LetterOutcome> {
    return this.call("dead_letter_replay", input, options);
  }

  /** Forget dead letters at once. */
  deadLetterPurge(input: wire.LetterSelection = {}, options?: CallOptions): Promise<wire.LetterOutcome> {
    return this.call("dead_letter_purge", input, options);
  }
}
