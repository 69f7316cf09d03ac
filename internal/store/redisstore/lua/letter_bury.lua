-- letter_bury makes a pending message a dead letter and tells its sender once.
-- Without a bounce its sender gets none.
--
-- KEYS  meta:hash mail{inbox:zset body:hash fact:hash box:hash} expire:zset threads:zset events:stream dead:zset
--       back{agent:hash inbox:zset body:hash fact:hash box:hash} owed:zset tickets:zset
-- ARGV  now:clock channel owner from hex reason dead_life:number bounce bytes:number message_life:number max_events
--       durability
-- FLAG  allow-oom
-- USES  tickets
-- Returns {"buried"} or {"left"}.
local fact = editable(redis.call('HGET', mail.fact, hex))
local damaged = not (fact and fact.f == from)
if damaged and redis.call('ZSCORE', mail.inbox, hex) then
  reason = 'corrupt'
  -- Its facts are damaged: nobody knows any more who wrote it, or what it weighs.
  -- No seal is made like this one, so it is never taken for a sound message.
  fact = { q = 0, f = from, t = '', k = 'notice', a = now, d = durability, z = fact and fact.z or 0, h = 'damaged' }
end
local id = from .. '::' .. owner .. '::' .. hex
if not fact or fact.f ~= from or fact.s then
  -- It is not waiting for its end any more; if it still stands there, it would for ever.
  redis.call('ZREM', expire, id)
  return { 'left' }
end
local lived = number(meta, 'lived')
local log = opened()
local seq = emit(log, 'dead', '', id)
taken(log, mail, owner, hex, fact)
closed(fact)
fact.s, fact.w, fact.n, fact.l = 'dead', reason, now, lived + dead_life
redis.call('HSET', mail.fact, hex, cjson.encode(fact))
redis.call('ZADD', dead, whole(seq), id)
redis.call('HINCRBY', meta, 'dead', 1)
if reason == REMOVED then redis.call('ZADD', owed, 0, owing(owner, seq, id)) end
if bounce ~= '' and answerable(fact) and redis.call('EXISTS', back.agent) == 1 then
  put(log, back, {
    event = 'accepted', from = 'system', to = from, kind = 'bounce', thread = unbroken(fact) and fact.t or '', urgent = false, expects = false,
    body = bounce, bytes = bytes, durability = durability, answers = id, expires = lived + message_life,
  })
end
return { 'buried' }
