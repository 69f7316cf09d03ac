-- silence_record records that who has read a question has ended its turn without an
-- answer, and tells who asked, once. It works when the store is full.
--
-- KEYS  meta:hash reader:hash facts:hash expire:zset threads:zset events:stream back{agent:hash inbox:zset body:hash
--       fact:hash box:hash}
-- ARGV  now:clock channel owner from hex max_events agent run to notice bytes:number message_life:number durability
-- FLAG  allow-oom
-- To is what who asked is called today, or empty if nobody is to be told.
-- Returns {"silent"}, {"left"} if there is nothing to say, {"superseded"}, or
-- {"unknown"} if there is nobody of that name to be told.
if superseded(reader, run) then return { 'superseded' } end
local fact = editable(redis.call('HGET', facts, hex))
if not fact or fact.f ~= from or not fact.e or fact.c or fact.an or fact.sl then return { 'left' } end
if fact.s and fact.s ~= 'acked' then return { 'left' } end
-- Of a queue's message only who holds it, or has acked it, can say so.
if string.sub(owner, 1, 5) == 'role/' and not (fact.cl and fact.cl.b == agent) then return { 'left' } end
if to ~= '' and redis.call('EXISTS', back.agent) == 0 then return { 'unknown' } end

local lived = number(meta, 'lived')
local log = opened()
if to ~= '' then
  -- Who asked knows a question that was handed over by its first id.
  put(log, back, {
    event = 'accepted', from = 'system', to = to, kind = 'notice', thread = unbroken(fact) and fact.t or '', urgent = false, expects = false,
    body = notice, bytes = bytes, durability = durability, answers = fact.o or (from .. '::' .. owner .. '::' .. hex), expires = lived + message_life,
  })
end
fact.sl = now
redis.call('HSET', facts, hex, cjson.encode(fact))
return { 'silent' }
