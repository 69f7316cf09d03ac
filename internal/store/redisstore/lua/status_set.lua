-- status_set stores what an agent says of itself.
--
-- KEYS  agent:hash
-- ARGV  run availability task
-- Returns {"ok"}, {"unknown"} or {"superseded"}.
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
if superseded(agent, run) then return { 'superseded' } end
redis.call('HSET', agent, 'availability', availability, 'task', task)
return { 'ok' }
