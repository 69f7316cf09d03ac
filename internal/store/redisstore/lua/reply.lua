-- reply stores the answer to a message, acks that message and records the
-- answer with it. An answer that hands the message over also puts it, as it is,
-- into the inbox of the next agent; whose answer then is one to the first ticket.
--
-- KEYS  meta, agent (asker), replier, inbox, body, fact, box (asker's), idem,
--       idemx, expire, threads, events, nodes, inbox, body, fact, box, ended
--       (replier's, or of the role whose message it answers), ending, tickets,
--       roles, agent, inbox, body, fact, box (the next agent's, or the
--       replier's again), flow, flowx, renamed
-- ARGV  see the names below
-- Returns {"ok", …, acked, answered, moved to, quiet, what is held, what is spent} or {"repeat", …} as send does, or
-- superseded, conflict, no_message, cancelled, stale <agent>, not_yours, unknown
-- (nobody to answer), full <what>, crowded, no_next, next_full <what>, moved,
-- spent <see flow.lua>, unpaid.
typed({ [3] = 'hash', [4] = 'zset', [5] = 'hash', [9] = 'zset', [10] = 'zset', [11] = 'zset', [13] = 'hash',
  [14] = 'zset', [15] = 'hash', [17] = 'hash', [18] = 'zset', [19] = 'zset', [20] = 'zset', [21] = 'zset',
  [22] = 'hash', [23] = 'zset', [24] = 'hash', [25] = 'hash', [26] = 'hash', [27] = 'hash', [28] = 'zset', [29] = 'hash' })
local meta, agent, replier, inbox, body, fact, box = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local idem, idemx, expire, threads, events, nodes, tickets = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[20]
local own = { inbox = KEYS[14], body = KEYS[15], fact = KEYS[16], box = KEYS[17], ended = KEYS[18], ending = KEYS[19],
  expire = expire, threads = threads, tickets = tickets }
local next_agent = KEYS[22]
local next = { inbox = KEYS[23], body = KEYS[24], fact = KEYS[25], box = KEYS[26], expire = expire, threads = threads, tickets = tickets }
local now, channel, from, to, answered, hex = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local expects, text, bytes, run, durability = ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10], ARGV[11]
local resume, mailbox, field, fingerprint = ARGV[12], ARGV[13], ARGV[14], ARGV[15]
local window, key_life, life = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18])
local most_messages, most_bytes, share = tonumber(ARGV[19]), tonumber(ARGV[20]), tonumber(ARGV[21])
local most_events, online_window = ARGV[22], tonumber(ARGV[23])
local ended_life, budget, urgent = tonumber(ARGV[24]), tonumber(ARGV[25]), ARGV[26]
local owner, role = ARGV[27], ARGV[28] -- of the answered message: whose mailbox it is in, and the role if it is one
local handed_to, digest, caps, most_space, key_bytes = ARGV[29], ARGV[31], ARGV[32], tonumber(ARGV[33]), tonumber(ARGV[34])
local lived = number(meta, 'lived')

if superseded(replier, run) then return { 'superseded' } end

local recipient = card(agent, nodes, meta, now, online_window)
local first, state, stored = remembered({ idem = idem, sender = replier, renamed = KEYS[29], fact = fact },
  from, field, fingerprint, lived, now, window, key_life)
if first == 'conflict' then return { 'conflict' } end
if first then
  return { 'repeat', first.h, first.t, first.a, now, state, stored or '', redis.call('HGET', body, first.h) or '', recipient, first.by }
end
if ARGV[37] == '1' then return { 'unpaid' } end

local raw = redis.call('HGET', own.fact, hex)
local question = editable(raw)
if not question then return { 'no_message' } end
if question.f ~= ARGV[30] then return { 'no_message' } end
if question.c then return { 'cancelled' } end
if role ~= '' then
  local refused = unfit(question, from, redis.call('ZSCORE', KEYS[21], role .. ' ' .. from))
  if refused then return { refused, question.cl and question.cl.b or '' } end
end
if mailbox == '' and #recipient[1] == 0 then return { 'unknown' } end
local holds = held(box, from)
local full_of = full(holds, bytes, most_messages, most_bytes, share, false)
if full_of then return { 'full', full_of } end
local text_of_question
if handed_to ~= '' then
  for _, answer in ipairs(question.an or {}) do
    if answer.m then return { 'moved' } end
  end
  if redis.call('EXISTS', next_agent) == 0 then return { 'no_next' } end
  full_of = full(held(next.box, question.f), question.z, tonumber(ARGV[35]), tonumber(ARGV[36]), share, false)
  if full_of then return { 'next_full', full_of } end
  text_of_question = redis.call('HGET', own.body, hex)
end
local log = opened(meta, events, channel, most_events, now)
-- What is answered makes room, so that a full space can be drained by answers.
local more = bytes + (handed_to ~= '' and question.z or 0) - (question.s and 0 or question.z)
if crowded(log, from, to, more, most_space) then return { 'crowded' } end
local chain = question.ch or question.t
local quiet = question.k == 'reply' and not question.e and expects ~= '1'
-- Many questions have the same answer; a loop is answers to answers.
local accounts, spent = reckon(KEYS[27], KEYS[28],
  { from = from, to = to, chain = chain, bytes = bytes, digest = question.k == 'reply' and digest or '' }, caps, now)
if not accounts then return spent end
-- A question that has its answer may be asked again in the same words.
if question.e and handed_to == '' then
  for _, entry in ipairs(accounts) do
    if string.sub(entry[1], 1, 2) == 'p:' then entry[2].tail = '' end
  end
end

local ticket = question.o or answered
local expires = 0
if mailbox == '' then expires = lived + life end
local new, _, seq = put(log, { inbox = inbox, body = body, fact = fact, box = box, expire = expire, threads = threads, tickets = tickets }, {
  event = 'answered', from = from, to = to, kind = 'reply', thread = question.t, urgent = urgent == '1', expects = expects == '1',
  body = text, bytes = bytes, key_bytes = key_bytes, durability = durability, answers = ticket, expires = expires, asked_by = question.u,
  chain = question.ch, quiet = quiet,
}, holds)
remember(idem, idemx, field, fingerprint, to, new, question.t, now, lived + key_life)
charge(KEYS[27], KEYS[28], accounts, chain, now)

local moved_to
if handed_to ~= '' then
  local _
  _, moved_to = put(log, next, {
    event = 'accepted', from = question.f, to = handed_to, kind = question.k, thread = question.t, urgent = question.p == 'urgent',
    expects = question.e == 1, body = text_of_question, bytes = question.z, durability = durability, answers = question.r or '',
    expires = lived + life, ticket = ticket, handed_by = from, asked_by = question.u, chain = question.ch,
  })
end
question.an = question.an or {}
table.insert(question.an, { h = new, a = now, f = from, m = moved_to })
if role ~= '' then question.cl = question.cl or { b = from, a = now } end
local acked = question.s and 0 or 1
if question.s then
  redis.call('HSET', own.fact, hex, cjson.encode(question))
else
  end_acked(log, own, owner, hex, question, ended_life, budget)
end
if resume == '1' and relieve(log, agent, to, owner .. '::' .. hex) then
  recipient = card(agent, nodes, meta, now, online_window)
end
return { 'ok', new, seq, question.t, now, recipient, acked, ticket, moved_to or '', quiet and 1 or 0,
  { holds.n + 1, holds.b + bytes, holds.sn + 1, holds.sb + bytes, log.bytes }, spending(accounts) }
