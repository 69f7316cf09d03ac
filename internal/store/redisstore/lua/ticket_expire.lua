-- ticket_expire says that the deadline of a ticket has passed unanswered, once.
--
-- KEYS  meta:hash facts:hash deadlines:zset events:stream tickets:zset
-- ARGV  now:clock channel owner from hex max_events
-- FLAG  allow-oom
-- USES  tickets
-- Returns {"timed_out"} or {"left"}.
local id = from .. '::' .. owner .. '::' .. hex
local due = redis.call('ZSCORE', deadlines, id)
if not due or tonumber(due) > now then return { 'left' } end
local raw = redis.call('HGET', facts, hex)
local fact = editable(raw)
if not raw and moving(meta, owner) then return { 'left' } end
local lapsed = fact and fact.f == from and not fact.c and not resolved(fact)
if lapsed then
  emit(opened(), 'timed_out', from, id)
  -- Who asked a person waits on: that deadline is a reminder.
  if owner ~= 'human' then closed(fact) end
end
redis.call('ZREM', deadlines, id)
return { lapsed and 'timed_out' or 'left' }
