-- agent_pause pauses or resumes one agent, or with an empty id the whole space.
--
-- KEYS  meta:hash subject:hash events:stream
-- ARGV  now:clock channel id why max_events
-- FLAG  allow-oom
-- Returns {"ok"} or {"unknown"}.
if id ~= '' and redis.call('EXISTS', subject) == 0 then return { 'unknown' } end
if (redis.call('HGET', subject, 'paused') or '') == why then return { 'ok' } end
emit(opened(), why == '' and 'resumed' or 'paused', id, '')
redis.call('HSET', subject, 'paused', why)
if why == '' then redis.call('HDEL', subject, 'asks') end
-- Whoever waits for the answer of an agent is to look: it concerns them all.
if id == '' then redis.call('SPUBLISH', channel, '0 *') end
return { 'ok' }
