// Package redisstore keeps everything in Redis. It is the only package that
// knows Redis: keys, scripts and the client library.
//
// Every state change is one Lua script, every read that needs more than one
// key a read-only one. All keys of a space share the hash tag {space}, so a
// step is one round trip on a single Redis and in Redis Cluster alike. A
// script declares all its keys, checks their types, reads, and only then
// writes: an error means that nothing changed.
//
// The keyspace, each key behind "c3po:1:{space}:" (1 is the schema):
//
//	meta          hash    seq (the sequence), the counters sent pending acked cancelled dead
//	                      agents registrations, casts (broadcasts so far),
//	                      ended_bytes, pending_bytes, lived, lived_ms, ticked, ticker (the node that
//	                      looks after the space), sweep (the lived second of the next sweep),
//	                      empty, empty_seq (since when nothing is left), imported (the last import),
//	                      released (the last event that released a message of a role),
//	                      paused, schema, min_reader,
//	                      epoch (1 if missing), began (the first number of the epoch),
//	                      moving (a line for each renaming, "old new", and retirement,
//	                      "id @number", that follow.go has not finished)
//	agents        zset    agent id by registration order
//	names         zset    "name id", all at score 0: ids of a bare name, and names nearby
//	roles         zset    "role id", all at score 0: who registered with a role; and "role " for each role
//	seen          zset    agent id by last sign of life; +inf while attached, 0 when gone
//	heard         zset    agent id by the lived second it was last known to be there
//	retired       zset    retired agent id by the lived second its last keys are looked at
//	renamed       hash    former id to the id of today and the lived second of the renaming. Mail
//	                      that came under the former id is found by it: it must outlive that
//	sessions      hash    client session to the id it last had
//	nodes         hash    node to the end of its lease, in ms
//	attached      zset    "node id", all at score 0: who is connected to a node
//	agent:ID      hash    one agent's record; rooms (their names), notify (of those
//	                      where it is not mentions, "room=all …"), cast (its cursor in the
//	                      built-in room "all", which nobody joins), asks (its open questions
//	                      to a person, "human::hex" each), state and state_at (while
//	                      attached: what its session does, and since when in ms), quota_until
//	                      (in ms) and quota ("since exact evidence"): it is out of quota;
//	                      sighted (the last run whose process a coordinator of its host saw);
//	                      renames (when the window of store.MaxRenames began, in ms, and how
//	                      often it was renamed in it)
//	                      The mailbox of a role has the ID role/NAME, and no record.
//	inbox:ID      zset    hex of unacked mail by reading position (urgent seq, normal seq + 2^52)
//	body:ID       hash    hex to the immutable body: checksum and JSON, opaque to scripts
//	fact:ID       hash    hex to the facts of the message, JSON written by scripts; h is a
//	                      seal over those that never change, as the body has a checksum
//	box:ID        hash    n and b (messages, bytes) in the inbox; n:SENDER and b:SENDER
//	mark:ID       hash    reader to the highest sequence it was told of, and up to which it was
//	                      given all; of the readers that came furthest (store.MaxMarkedReaders), with
//	                      the times of their last notices (store.MaxToldNotices)
//	ended:ID      zset    hex of acked mail by the number of the ending event
//	rate:ID       zset    sends of the last minute, under a Redis TTL
//	ending        zset    agent id by its oldest ended message
//	idem, idemx   hash,   idempotency keys ("sender\0key", by what it was called) and their ends in lived seconds
//	              zset
//	expire        zset    message id by the lived second its life ends
//	flow, flowx   hash,   budgets, by t:CHAIN, p:AGENT AGENT and a:AGENT (flow.lua), and when each
//	              zset    was last used, or of a pair or an agent its hour began; paused chains are not in flowx.
//	                      c:CHAIN is what a chain has cost (usage_record.lua), in flowx by a time to come
//	threads       zset    "length:thread\0seq\0message id", all at score 0; here and in tickets
//	                      the id may have a former name of the recipient
//	tickets       zset    message id of all that expect an answer, by sequence; of those that have
//	                      ended, by its negative, so that the open ones are read without them.
//	                      Written before that was so, one that has ended is among the open ones
//	                      until it is forgotten
//	deadlines     zset    ticket by the moment its deadline passes, until that was said
//	dead          zset    message id of dead letters by the number of the event
//	owed          zset    "agent\0number\0message id" of letters that come back with their
//	                      recipient, all at score 0
//	events        stream  state changes, entry id = sequence
//	aliases       hash    "host|name" to the id it meant and when
//	imported      hash    what came from another coordinator, as it was called there, to what
//	                      it is here: the id of a message or an agent, the name of a room,
//	                      "sequence ordinal" of a post
//	edits         hash    "repository\0t:tree\0path" and "repository\0b:branch\0path" to the lease of
//	                      that file, held or ended, JSON (edits.lua)
//	editors       hash    term to the agent whose session edits by it, JSON; the agent's record
//	                      names the term in editing, and meta the last number given in fence
//	files         hash    file to its row: sender, name, size, hash, how much of it is stored, and the
//	                      messages that carry it; JSON
//	filex         zset    file by the lived second at which it is looked at: whether any does
//	filebox       hash    b and b:SENDER: the bytes that files take, announced ones too
//	file:FILE     hash    number of a chunk to its checksum and bytes
//	rooms         hash    room to its row: creator, visibility, counts, last post, and without
//	                      members since when it is empty and silent; JSON
//	roomorder     zset    room by the number of the event that made it
//	room:ROOM     stream  the posts, entry id = sequence-ordinal; f (facts, JSON), b (body)
//	members:ROOM  zset    agent id by the number of the event by which it joined
//	invited:ROOM  zset    agent id by when it was invited
//	joined:ID     hash    room to the agent's cursor there, "sequence ordinal"
//	skips:ID      zset    "room\0ordinal", all at score 0: posts behind the cursor that the
//	                      agent is not shown: its own, and those it has as mail
//	reads:ID      hash    "room\0reader" to how far the reader was given posts
//
// What belongs to no space is behind "c3po:1:{_}:":
//
//	spaces        set     every space that was entered and not forgotten
//	leaving       zset    empty spaces that are about to be forgotten, by when they left the list
//	floor         hash    seq, epoch: above which a space begins that has no numbers of its own
//	grant:KID     hash    one token's grant: g (JSON, opaque to scripts), created,
//	                      expires, used, revoked, fixed
//	grants        zset    KID by the moment the grant is forgotten
//	changes       zset    KID by the revision that put or revoked it
//	auth          hash    revision
//	runs          zset    runs of agents by when they were last noted
//	invite:ID     hash    one invitation: i (JSON), hash, expires, tries, used
//	link:ID       hash    one link that lets a browser in, as an invitation
//	passkeys      hash    id of a passkey to what is known of it, JSON; policy: what they are
//	                      needed for; reset: when they are forgotten
//	proof:ID      hash    one act that a person has to confirm: act (JSON, what is signed),
//	                      expires, signature, used
//	ca            string  what all coordinators prove themselves with, opaque
//	reaper        hash    node, until, length: the coordinator that reaps, and its term
//	audit         stream  what somebody will ask about later: e (JSON), n p h (its place in
//	                      the chain, the hash before it, its own)
//	refusals      stream  likewise, of who was not let in
//	chain         hash    of each of the two its last number and hash
//	schema        hash    how everything here is written: schema, min_reader (the oldest
//	                      schema whose coordinators understand it), version (of the
//	                      c3po that raised them). Missing: schema 1. A space's meta can
//	                      ask for a newer reader of that space alone.
//
// Nothing here grows for ever. Every key has an owner that trims it:
//
//	the agent           agent, inbox, body, fact, box, mark, ended, joined, skips, reads, and its
//	                    places in agents, names, roles, seen, heard, sessions, attached: with its
//	                    retirement and its last mail (agent_retire.lua, agent_forget.lua); marks and
//	                    reads of its last eight readers
//	the message         its places in threads, tickets, deadlines, expire, dead, owed, ending: with
//	                    its end or its life (message_trim.lua, letter_trim.lua, letter_bury.lua)
//	the file            files, filex, filebox, file: when no message carries it any more (files.go)
//	the key             idem, idemx: by its life (key_trim.lua)
//	the account         flow, flowx: unused for two hours, a cost for seven days (account_trim.lua); of a paused chain, after
//	                    the life of dead letters, when its thread is empty (sweeps.go)
//	the room            rooms, roomorder, room, members, invited: when somebody ends it, or it was
//	                    empty and silent for long (room_end.lua); posts by number and bytes (room_post.lua)
//	the sweep           nodes, aliases, renamed, roles, imported, edits, editors: when they are of no use (sweeps.go)
//	the space           meta, events (by number) and all that is left: when it is empty (spaces.go)
//	Redis               rate, grant, invite, link, proof: by a TTL
//	the person          passkeys: a handful, removed ones are remembered as removed
//	the step itself     grants, changes, runs, audit: each write sweeps up (grant_put.lua, run_note.lua)
//
// Grants and invitations also have a Redis TTL, but only as the broom: what
// they are worth is decided by the deadline stored in them.
//
// The wake channel of a space is "c3po:1:{space}:wake" (sharded pub/sub), its
// payload the event's number and the agent it concerns, or "#room".
package redisstore
