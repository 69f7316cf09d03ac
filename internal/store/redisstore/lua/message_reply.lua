-- message_reply stores the answer to a message, acks that message and records the
-- answer with it. An answer that hands the message over also puts it, as it is,
-- into the inbox of the next agent; whose answer then is one to the first ticket.
--
-- KEYS  meta agent sender:hash mail{inbox:zset body:hash fact box} idem idemx:zset expire:zset threads:zset events
--       nodes:hash own{inbox:zset body:hash fact box:hash ended:zset} ending:zset tickets:zset roles:zset
--       onward{agent:hash inbox:zset body:hash fact:hash box:hash} flow flowx renamed:hash files
-- ARGV  now:clock channel from to answered hex expects text bytes:number run durability resume mailbox field
--       fingerprint window:number key_life:number message_life:number max_messages:number max_bytes:number
--       share:number max_events online_window:number ended_life:number ended_bytes:number urgent owner role
--       handed_to asked digest caps:literal space_bytes:number key_bytes:number onward_messages:number onward_bytes:number
--       barred:flag goes_back attach[] handed_files[]
-- USES  keys flow tickets files
-- The agent and mail are of who asked, own is the replier's or of the queue whose message
-- it answers, onward the next agent's or the replier's again. Owner is whose mailbox the
-- answered message is in, and role its queue, if it is in one. Handed_files are those that
-- the message carries that is handed over.
-- Returns {"ok", …, acked, answered, moved to, quiet, what is held, what is spent, what it goes back to} or {"repeat", …} as message_send does, or
-- superseded, conflict, no_message, cancelled, answered, stale <agent>, not_yours, unknown
-- (nobody to answer), full <what>, crowded, no_next, next_full <what>, moved,
-- spent <see flow.lua>, barred, no_file <id>.
local log = opened()
local lived = log.lived
local by = redis.call('HMGET', sender, 'run', 'seen', 'was')
local recipient = addressee(agent, nodes, log.paused, now, online_window)
local first, state, stored = remembered(mail.fact, lived, by[3] or '')
if first == 'conflict' then return { 'conflict' } end
if first then
  return { 'repeat', first.h, first.t, first.a, now, state, stored or '', redis.call('HGET', mail.body, first.h) or '', recipient, first.by }
end
if supersedes(by[1], by[2], run) then return { 'superseded' } end
if barred then return { 'barred' } end
local carried, missing = attachable(attach)
if not carried then return { 'no_file', missing } end
local moving_files, moving_ids = carried_by(handed_files, attach, carried)

local raw = redis.call('HGET', own.fact, hex)
local question = editable(raw)
if not question then return { 'no_message' } end
if question.f ~= asked then return { 'no_message' } end
if question.c then return { 'cancelled' } end
if resume == '1' and question.an then return { 'answered' } end
if role ~= '' then
  local refused = unfit(question, from, redis.call('ZSCORE', roles, role .. ' ' .. from))
  if refused then return { refused, question.cl and question.cl.b or '' } end
end
if mailbox == '' and not recipient[1][1] then return { 'unknown' } end
local holds = held(mail.box, from)
local full_of = full(holds, bytes, max_messages, max_bytes, share, false)
if full_of then return { 'full', full_of } end
local text_of_question
if handed_to ~= '' then
  for _, answer in ipairs(question.an or {}) do
    if answer.m then return { 'moved' } end
  end
  if redis.call('EXISTS', onward.agent) == 0 then return { 'no_next' } end
  full_of = full(held(onward.box, question.f), question.z, onward_messages, onward_bytes, share, false)
  if full_of then return { 'next_full', full_of } end
  text_of_question = redis.call('HGET', own.body, hex)
end
-- What is answered makes room, so that a full space can be drained by answers.
local more = bytes + (handed_to ~= '' and question.z or 0) - (question.s and 0 or question.z)
if crowded(log, from, to, more, space_bytes) then return { 'crowded' } end
local chain = question.ch or question.t
local quiet = question.k == 'reply' and not question.e and expects ~= '1'
-- Many questions have the same answer; a loop is answers to answers.
local accounts, spent = reckon({ from = from, to = to, chain = chain, bytes = bytes, digest = question.k == 'reply' and digest or '' })
if not accounts then return spent end
-- A question that has its answer may be asked again in the same words.
if question.e and handed_to == '' then
  for _, entry in ipairs(accounts) do
    if string.sub(entry[1], 1, 2) == 'p:' then entry[2].tail = '' end
  end
end

local ticket = question.o or answered
-- What follows from a person's message goes back to it, and so does what follows from that. Answers
-- to the person need not say so.
local word = question.g
if question.f == 'human' and not question.o then word = answered .. ' ' .. whole(question.a) .. (word and ' ' .. word or '') end
local origin = from ~= 'human' and word or goes_back
if origin == '' or to == 'human' then origin = nil end
local expires = 0
if mailbox == '' then expires = lived + message_life end
local new, answer_id, seq = put(log, mail, {
  event = 'answered', from = from, to = to, kind = 'reply', thread = question.t, urgent = urgent == '1', expects = expects == '1',
  body = text, bytes = bytes, key_bytes = key_bytes, durability = durability, answers = ticket, expires = expires, asked_by = question.u,
  chain = question.ch, quiet = quiet, goes_back = origin,
}, holds)
remember(to, new, question.t, lived)
charge(accounts, chain)
attach_to(answer_id, attach, carried)

local moved_to
if handed_to ~= '' then
  local _
  _, moved_to = put(log, onward, {
    event = 'accepted', from = question.f, to = handed_to, kind = question.k, thread = question.t, urgent = question.p == 'urgent',
    expects = question.e == 1, body = text_of_question, bytes = question.z, durability = durability, answers = question.r or '',
    expires = lived + message_life, ticket = ticket, handed_by = from, asked_by = question.u, chain = question.ch, goes_back = word,
  })
  attach_to(moved_to, moving_ids, moving_files)
end
question.an = question.an or {}
table.insert(question.an, { h = new, a = now, f = from, m = moved_to })
if role ~= '' and (not question.cl or question.cl.x) then question.cl = { b = from, a = now } end
if not moved_to then closed(question) end
local acked = question.s and 0 or 1
if question.s then
  redis.call('HSET', own.fact, hex, cjson.encode(question))
else
  end_acked(log, own, owner, hex, question, ended_life, ended_bytes)
end
if resume == '1' and relieve(log, agent, to, owner .. '::' .. hex) then
  recipient = addressee(agent, nodes, log.paused, now, online_window)
end
return { 'ok', new, seq, question.t, now, recipient, acked, ticket, moved_to or '', quiet and 1 or 0,
  { holds.n + 1, holds.b + bytes, holds.sn + 1, holds.sb + bytes, log.bytes }, spending(accounts), origin or '' }
