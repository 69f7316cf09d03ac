-- cancel withdraws a message for its sender. Who has read it is told so, without
-- the text. Who has withdrawn its question to a person no longer waits for one. It works when the store is full.
--
-- KEYS  meta, sender, inbox, body, fact, box, ended (the recipient's), ending,
--       expire, threads, events, tickets, then agent, inbox, body, fact, box of who
--       holds a role's message, or the sender's and recipient's again
-- ARGV  now, channel, owner, from, hex, run, ended life, ended bytes, message
--       life, most events, notice body, its bytes, durability,
--       holder or none, who says so (from is what it was called when it sent)
-- Returns {outcome, told}, or {"superseded"}, or {"moved", id} if the ticket is
-- another agent's by now, or {"held", agent} if that holds the role's message.
typed({ 'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'stream', 'zset',
  'hash', 'zset', 'hash', 'hash', 'hash' })
local meta, sender, events = KEYS[1], KEYS[2], KEYS[11]
local k = { inbox = KEYS[3], body = KEYS[4], fact = KEYS[5], box = KEYS[6], ended = KEYS[7], ending = KEYS[8],
  expire = KEYS[9], threads = KEYS[10], tickets = KEYS[12] }
local now, channel, owner, from, hex, run = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ended_life, budget, life, most_events = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10]
local notice, bytes, durability, caller = ARGV[11], tonumber(ARGV[12]), ARGV[13], ARGV[15]

if superseded(sender, run) then return { 'superseded' } end
local raw = redis.call('HGET', k.fact, hex)
local fact = editable(raw)
if not fact or fact.f ~= from then return { 'unknown', 0 } end
if fact.c then return { 'already', 0 } end
if resolved(fact) then return { 'responded', 0 } end
for _, answer in ipairs(fact.an or {}) do
  if answer.m then return { 'moved', answer.m } end
end
if fact.s == 'dead' or (fact.s and not fact.e) then return { 'ended', 0 } end

local log, to = opened(meta, events, channel, most_events, now), k
local id = from .. '::' .. owner .. '::' .. hex
-- A notice to a role would be a task of its own: who holds the message is told.
local told, reader = is_read(fact), owner
if string.sub(owner, 1, 5) == 'role/' then
  reader = fact.cl and fact.cl.b or ''
  if reader ~= ARGV[14] then return { 'held', reader } end
  told = reader ~= '' and redis.call('EXISTS', KEYS[13]) == 1
  if told then to = { inbox = KEYS[14], body = KEYS[15], fact = KEYS[16], box = KEYS[17], expire = k.expire, threads = k.threads } end
end
fact.c = now
if fact.s then
  emit(log, 'cancelled', caller, id)
  redis.call('HSET', k.fact, hex, cjson.encode(fact))
else
  end_as(log, k, 'cancelled', caller, owner, hex, fact, ended_life, budget)
end
if told then
  put(log, to, {
    event = 'accepted', from = 'system', to = reader, kind = 'cancelled', thread = fact.t, urgent = false, expects = false,
    body = notice, bytes = bytes, durability = durability, answers = id, expires = number(meta, 'lived') + life,
  })
end
if fact.k == 'escalation' then relieve(log, sender, caller, owner .. '::' .. hex) end
return { 'cancelled', told and 1 or 0 }
