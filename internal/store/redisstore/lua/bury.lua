-- bury makes a pending message a dead letter and tells its sender once.
--
-- KEYS  meta, inbox, body, fact, box (recipient's), expire, threads, events,
--       dead, agent, inbox, body, fact, box (sender's), owed
-- ARGV  now, channel, owner, from, hex, reason, dead life, bounce body, its
--       bytes, message life, most events, durability
-- Returns {"buried"} or {"left"}.
typed({ 'hash', 'zset', 'hash', 'hash', 'hash', 'zset', 'zset', 'stream', 'zset', 'hash', 'zset', 'hash', 'hash', 'hash', 'zset' })
local meta, events, dead, sender = KEYS[1], KEYS[8], KEYS[9], KEYS[10]
local k = { inbox = KEYS[2], body = KEYS[3], fact = KEYS[4], box = KEYS[5], expire = KEYS[6], threads = KEYS[7] }
local back = { inbox = KEYS[11], body = KEYS[12], fact = KEYS[13], box = KEYS[14], expire = KEYS[6], threads = KEYS[7] }
local now, channel, owner, from, hex, reason = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local dead_life, bounce, bytes, life = tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
local most_events, durability = ARGV[11], ARGV[12]

local fact = editable(redis.call('HGET', k.fact, hex))
local damaged = not (fact and fact.f == from)
if damaged and redis.call('ZSCORE', k.inbox, hex) then
  reason = 'corrupt'
  -- Its facts are damaged: nobody knows any more who wrote it, or what it weighs.
  -- No seal is made like this one, so it is never taken for a sound message.
  fact = { q = 0, f = from, t = '', k = 'notice', a = now, d = durability, z = fact and fact.z or 0, h = 'damaged' }
end
local id = from .. '::' .. owner .. '::' .. hex
if not fact or fact.f ~= from or fact.s then
  -- It is not waiting for its end any more; if it still stands there, it would for ever.
  redis.call('ZREM', k.expire, id)
  return { 'left' }
end
local lived = number(meta, 'lived')
local log = opened(meta, events, channel, most_events, now)
local seq = emit(log, 'dead', '', id)
taken(log, k, owner, hex, fact)
fact.s, fact.w, fact.n, fact.l = 'dead', reason, now, lived + dead_life
redis.call('HSET', k.fact, hex, cjson.encode(fact))
redis.call('ZADD', dead, whole(seq), id)
redis.call('HINCRBY', meta, 'dead', 1)
if reason == REMOVED then redis.call('ZADD', KEYS[15], 0, owing(owner, seq, id)) end
if answerable(fact) and redis.call('EXISTS', sender) == 1 then
  put(log, back, {
    event = 'accepted', from = 'system', to = from, kind = 'bounce', thread = unbroken(fact) and fact.t or '', urgent = false, expects = false,
    body = bounce, bytes = bytes, durability = durability, answers = id, expires = lived + life,
  })
end
return { 'buried' }
