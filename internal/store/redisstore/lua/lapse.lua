-- lapse says that the deadline of a ticket has passed unanswered, once.
--
-- KEYS  meta, fact (recipient's), deadlines, events
-- ARGV  now, channel, owner, from, hex, most events
-- Returns {"timed_out"} or {"left"}.
typed({ 'hash', 'hash', 'zset', 'stream' })
local meta, facts, deadlines, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, channel, owner, from, hex, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local id = from .. '::' .. owner .. '::' .. hex
local due = redis.call('ZSCORE', deadlines, id)
if not due or tonumber(due) > now then return { 'left' } end
local raw = redis.call('HGET', facts, hex)
local fact = editable(raw)
if not raw and moving(meta, owner) then return { 'left' } end
local lapsed = fact and fact.f == from and not fact.c and not resolved(fact)
if lapsed then emit(opened(meta, events, channel, most_events, now), 'timed_out', from, id) end
redis.call('ZREM', deadlines, id)
return { lapsed and 'timed_out' or 'left' }
