-- chain_resume lets a paused chain go on, with a new budget, and acks the question that
-- the person was asked about it: this is the answer. It works when the store is full.
--
-- KEYS  flow:hash flowx:zset meta:hash mail{inbox:zset body:hash fact:hash box:hash ended:zset} ending:zset
--       expire:zset threads:zset events:stream tickets:zset
-- ARGV  now:clock chain channel owner ended_life:number ended_bytes:number max_events
-- FLAG  allow-oom
-- Returns {"resumed", the question or "", whether it was acked} or {"none"}.
local field = 't:' .. chain
local raw = redis.call('HGET', flow, field)
local state, tail = string.match(raw or '', '^%S+ %S+ %S+ %S+ (%S+) ?(.*)$')
if not state or state == '-' then return { 'none' } end

local question, acked = '', 0
if state ~= 'untold' then question = state end
local from, to, hex = string.match(question, '^(.-)::(.-)::(%x+)$')
local fact = hex and to == owner and editable(redis.call('HGET', mail.fact, hex))
if fact and fact.f == from and not fact.s then
  end_acked(opened(), mail, owner, hex, fact, ended_life, ended_bytes)
  acked = 1
end
redis.call('HSET', flow, field, whole(now) .. ' 0 0 0 - ' .. tail)
redis.call('ZADD', flowx, whole(now), field)
return { 'resumed', question, acked }
