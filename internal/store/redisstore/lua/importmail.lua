-- importmail stores a message of another coordinator under its own number, with
-- its facts. It takes its place behind what is here.
--
-- KEYS  meta, agent, inbox, body, fact, box, ended (recipient's), ending, expire,
--       threads, tickets, deadlines, dead, owed, retired, roles, imported, events
-- ARGV  now, channel, owner, hex, origin, most events, facts, body, life left
--       (0: it does not die), its deadline is open, lived seconds until the keys of
--       a recipient that is not registered are looked at, whose mailbox it is: an
--       agent's if empty, a person's, or a role
-- Returns {"imported"}, {"already"}, or {"taken"} if another message has its number.
typed({ 'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'zset', 'zset', 'zset', 'zset', 'zset', 'zset', 'hash', 'stream' })
local meta, agent, inbox, facts = KEYS[1], KEYS[2], KEYS[3], KEYS[5]
local k = { ended = KEYS[7], ending = KEYS[8] }
local now, channel, owner, hex, origin, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local fact, text, life, open, later, mailbox = cjson.decode(ARGV[7]), ARGV[8], tonumber(ARGV[9]), ARGV[10], tonumber(ARGV[11]), ARGV[12]
if redis.call('HEXISTS', KEYS[17], origin) == 1 then return { 'already' } end
if redis.call('HEXISTS', facts, hex) == 1 then return { 'taken' } end
local lived, holds = number(meta, 'lived'), held(KEYS[6], fact.f)
local id = fact.f .. '::' .. owner .. '::' .. hex
local pending = not fact.s

local log = opened(meta, KEYS[18], channel, most_events, now)
log.sent = log.sent + 1
if pending then log.pending, log.bytes = log.pending + 1, log.bytes + fact.z end
local seq = emit(log, 'accepted', pending and not fact.qt and owner or '', id, 'sent', whole(log.sent), 'pending', whole(log.pending),
  'pending_bytes', whole(log.bytes))
fact.q = seq
redis.call('HSET', KEYS[17], origin, id)
redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
if text ~= '' then redis.call('HSET', KEYS[4], hex, text) end
redis.call('ZADD', KEYS[10], 0, threaded(fact.t, seq, id))
if fact.e then redis.call('ZADD', KEYS[11], whole(seq), id) end
if open == '1' then redis.call('ZADD', KEYS[12], whole(fact.dl), id) end
if pending then
  redis.call('ZADD', inbox, whole(fact.p and seq or seq + BAND), hex)
  redis.call('HSET', KEYS[6], 'n', whole(holds.n + 1), 'b', whole(holds.b + fact.z),
    'n:' .. fact.f, whole(holds.sn + 1), 'b:' .. fact.f, whole(holds.sb + fact.z))
  if life > 0 then
    fact.x = lived + life
    redis.call('ZADD', KEYS[9], whole(fact.x), id)
  end
else
  fact.l = lived + life
  redis.call('HINCRBY', meta, fact.s, 1)
  if fact.s == 'dead' then
    redis.call('ZADD', KEYS[13], whole(seq), id)
    if fact.w == REMOVED then redis.call('ZADD', KEYS[14], 0, owing(owner, seq, id)) end
  else
    redis.call('ZADD', k.ended, whole(seq), hex)
    redis.call('HINCRBY', meta, 'ended_bytes', kept(fact))
    settle(k, owner)
  end
end
redis.call('HSET', facts, hex, cjson.encode(fact))
-- Whose mail somebody must look after: of a role without members, and of an
-- agent that is not registered.
if mailbox == '' and redis.call('EXISTS', agent) == 0 then redis.call('ZADD', KEYS[15], 'NX', whole(lived + later), owner) end
if mailbox ~= '' and mailbox ~= 'human' then redis.call('ZADD', KEYS[16], 0, mailbox .. ' ') end
return { 'imported' }
