-- goon lets a paused chain go on, with a new budget, and acks the question that
-- the person was asked about it: this is the answer. It works when the store is full.
--
-- KEYS  flow, flowx, meta, inbox, body, fact, box, ended (the person's), ending,
--       expire, threads, events, tickets
-- ARGV  now, chain, channel, the person, ended life, ended bytes, most events
-- Returns {"resumed", the question or "", whether it was acked} or {"none"}.
typed({ 'hash', 'zset', 'hash', 'zset', 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'stream', 'zset' })
local k = { inbox = KEYS[4], body = KEYS[5], fact = KEYS[6], box = KEYS[7], ended = KEYS[8], ending = KEYS[9],
  expire = KEYS[10], threads = KEYS[11], tickets = KEYS[13] }
local now, field, owner = clock(ARGV[1]), 't:' .. ARGV[2], ARGV[4]
local raw = redis.call('HGET', KEYS[1], field)
local state, tail = string.match(raw or '', '^%S+ %S+ %S+ %S+ (%S+) ?(.*)$')
if not state or state == '-' then return { 'none' } end

local question, acked = '', 0
if state ~= 'untold' then question = state end
local from, to, hex = string.match(question, '^(.-)::(.-)::(%x+)$')
local fact = hex and to == owner and editable(redis.call('HGET', k.fact, hex))
if fact and fact.f == from and not fact.s then
  end_acked(opened(KEYS[3], KEYS[12], ARGV[3], ARGV[7], now), k, owner, hex, fact, tonumber(ARGV[5]), tonumber(ARGV[6]))
  acked = 1
end
redis.call('HSET', KEYS[1], field, whole(now) .. ' 0 0 0 - ' .. tail)
redis.call('ZADD', KEYS[2], whole(now), field)
return { 'resumed', question, acked }
