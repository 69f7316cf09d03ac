-- status stores what an agent says of itself.
--
-- KEYS  agent
-- ARGV  run, availability, task
-- Returns {"ok"}, {"unknown"} or {"superseded"}.
typed({ 'hash' })
if redis.call('EXISTS', KEYS[1]) == 0 then return { 'unknown' } end
if superseded(KEYS[1], ARGV[1]) then return { 'superseded' } end
redis.call('HSET', KEYS[1], 'availability', ARGV[2], 'task', ARGV[3])
return { 'ok' }
