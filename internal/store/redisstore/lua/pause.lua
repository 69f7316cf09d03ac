-- pause pauses or resumes one agent, or with an empty id the whole space.
--
-- KEYS  meta, agent (meta again for the space), events
-- ARGV  now, channel, id, why (empty resumes), most events
-- Returns {"ok"} or {"unknown"}.
typed({ 'hash', 'hash', 'stream' })
local meta, subject, events = KEYS[1], KEYS[2], KEYS[3]
local now, channel, id, why, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if id ~= '' and redis.call('EXISTS', subject) == 0 then return { 'unknown' } end
if (redis.call('HGET', subject, 'paused') or '') == why then return { 'ok' } end
emit(opened(meta, events, channel, most_events, now), why == '' and 'resumed' or 'paused', id, '')
redis.call('HSET', subject, 'paused', why)
if why == '' then redis.call('HDEL', subject, 'asks') end
-- Whoever waits for the answer of an agent is to look: it concerns them all.
if id == '' then redis.call('SPUBLISH', channel, '0 *') end
return { 'ok' }
