-- quota_set records for how long an agent is out of quota, or that it is not.
--
-- KEYS  agent:hash
-- ARGV  now:clock run length:number exact:flag evidence
-- FLAG  allow-oom
-- Length is in ms from now on.
-- Returns {"ok"}, {"unknown"} or {"superseded"}.
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
if superseded(agent, run) then return { 'superseded' } end
if length == 0 then
  redis.call('HDEL', agent, 'quota_until', 'quota')
else
  redis.call('HSET', agent, 'quota_until', whole(now + length), 'quota', whole(now) .. (exact and ' 1 ' or ' 0 ') .. evidence)
end
return { 'ok' }
