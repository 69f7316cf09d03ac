-- message_cancel withdraws a message for its sender. Who has read it is told so, without
-- the text. Who has withdrawn its question to a person no longer waits for one. It works when the store is full.
--
-- KEYS  meta:hash sender:hash mail{inbox:zset body:hash fact:hash box:hash ended:zset} ending:zset expire:zset
--       threads:zset events:stream tickets:zset agent:hash holding{inbox:zset body:hash fact:hash box:hash}
-- ARGV  now:clock channel owner from hex run ended_life:number ended_bytes:number message_life:number max_events
--       notice bytes:number durability holder caller
-- FLAG  allow-oom
-- USES  tickets
-- The agent and holding are of the holder of a queue's message, else the sender's and
-- the recipient's again. From is what the caller was called when it sent.
-- Returns {outcome, told}, or {"superseded"}, or {"moved", id} if the ticket is
-- another agent's by now, or {"held", agent} if that holds the queue's message.
if superseded(sender, run) then return { 'superseded' } end
local raw = redis.call('HGET', mail.fact, hex)
local fact = editable(raw)
if not fact or fact.f ~= from then return { 'unknown', 0 } end
if fact.c then return { 'already', 0 } end
if resolved(fact) then return { 'responded', 0 } end
for _, answer in ipairs(fact.an or {}) do
  if answer.m then return { 'moved', answer.m } end
end
if fact.s == 'dead' or (fact.s and not fact.e) then return { 'ended', 0 } end

local log, to = opened(), mail
local id = from .. '::' .. owner .. '::' .. hex
-- A notice to a queue would be a task of its own: who holds the message is told.
local told, reader = is_read(fact), owner
if string.sub(owner, 1, 5) == 'role/' then
  reader = fact.cl and fact.cl.b or ''
  if reader ~= holder then return { 'held', reader } end
  told = reader ~= '' and redis.call('EXISTS', agent) == 1
  if told then to = holding end
end
fact.c = now
closed(fact)
if fact.s then
  emit(log, 'cancelled', caller, id)
  redis.call('HSET', mail.fact, hex, cjson.encode(fact))
else
  end_as(log, mail, 'cancelled', caller, owner, hex, fact, ended_life, ended_bytes)
end
if told then
  put(log, to, {
    event = 'accepted', from = 'system', to = reader, kind = 'cancelled', thread = fact.t, urgent = false, expects = false,
    body = notice, bytes = bytes, durability = durability, answers = id, expires = number(meta, 'lived') + message_life,
  })
end
if fact.k == 'escalation' then relieve(log, sender, caller, owner .. '::' .. hex) end
return { 'cancelled', told and 1 or 0 }
