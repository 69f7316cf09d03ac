-- ticket_expire says that the deadline of a ticket has passed unanswered, once.
--
-- KEYS  meta:hash facts:hash deadlines:zset events:stream
-- ARGV  now:clock channel owner from hex max_events
-- FLAG  allow-oom
-- Returns {"timed_out"} or {"left"}.
local id = from .. '::' .. owner .. '::' .. hex
local due = redis.call('ZSCORE', deadlines, id)
if not due or tonumber(due) > now then return { 'left' } end
local raw = redis.call('HGET', facts, hex)
local fact = editable(raw)
if not raw and moving(meta, owner) then return { 'left' } end
local lapsed = fact and fact.f == from and not fact.c and not resolved(fact)
if lapsed then emit(opened(), 'timed_out', from, id) end
redis.call('ZREM', deadlines, id)
return { lapsed and 'timed_out' or 'left' }
