-- holdup_record records that who has a message does not go on with it, or that it does.
-- It tells who asked, of each reason once. It works when the store is full.
--
-- KEYS  meta:hash reader:hash facts:hash expire:zset threads:zset events:stream back{agent:hash inbox:zset body:hash
--       fact:hash box:hash}
-- ARGV  now:clock channel owner from hex max_events agent run why to notice bytes:number message_life:number durability
-- FLAG  allow-oom
-- Why is "quota", "stalled", or empty if it goes on. To is what who asked is called
-- today, or empty if nobody is to be told.
-- Returns {"told"}, {"recorded"}, {"left"} if there is nothing to record, {"superseded"},
-- or {"unknown"} if there is nobody of that name to be told.
if superseded(reader, run) then return { 'superseded' } end
local fact = editable(redis.call('HGET', facts, hex))
if not fact or fact.f ~= from or fact.c or fact.an then return { 'left' } end
if fact.s and fact.s ~= 'acked' then return { 'left' } end
local role = string.sub(owner, 1, 5) == 'role/'
if role and not (fact.cl and fact.cl.b == agent) or not role and owner ~= agent then return { 'left' } end

if why == '' then
  if not fact.st and not (role and fact.cl.x) then return { 'left' } end
  fact.st = nil
  if role then fact.cl.x = nil end
  redis.call('HSET', facts, hex, cjson.encode(fact))
  return { 'recorded' }
end

local said = why == 'quota' and 'tq' or 'ts'
local news = fact.e and not fact[said]
local released = role and not fact.s and not fact.cl.x
local stalled = why == 'stalled' and fact.e and not fact.st
if not news and not released and not stalled then return { 'left' } end
local tells = news and to ~= ''
if tells and redis.call('EXISTS', back.agent) == 0 then return { 'unknown' } end

local lived = number(meta, 'lived')
local log = opened()
local id = from .. '::' .. owner .. '::' .. hex
if released then
  emit(log, 'released', owner, id, 'released', whole(log.seq + 1))
  fact.cl.x = 1
end
if tells then
  -- Who asked knows a question that was handed over by its first id.
  put(log, back, {
    event = 'accepted', from = 'system', to = to, kind = 'notice', thread = unbroken(fact) and fact.t or '', urgent = false, expects = false,
    body = notice, bytes = bytes, durability = durability, answers = fact.o or id, expires = lived + message_life,
  })
end
if news then fact[said] = now end
if stalled then fact.st = now end
redis.call('HSET', facts, hex, cjson.encode(fact))
return { tells and 'told' or 'recorded' }
