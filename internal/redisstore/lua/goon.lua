-- goon lets a paused chain go on, with a new budget.
--
-- KEYS  flow, flowx
-- ARGV  now, chain
-- Returns {"resumed", the question or ""} or {"none"}.
typed({ 'hash', 'zset' })
local now, field = clock(ARGV[1]), 't:' .. ARGV[2]
local raw = redis.call('HGET', KEYS[1], field)
local state, tail = string.match(raw or '', '^%S+ %S+ %S+ %S+ (%S+) ?(.*)$')
if not state or state == '-' then return { 'none' } end
redis.call('HSET', KEYS[1], field, whole(now) .. ' 0 0 0 - ' .. tail)
redis.call('ZADD', KEYS[2], whole(now), field)
return { 'resumed', state ~= 'untold' and state or '' }
