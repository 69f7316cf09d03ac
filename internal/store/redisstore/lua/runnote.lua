-- runnote remembers that a run is an agent's, and forgets old ones.
--
-- KEYS  runs
-- ARGV  now, run, kept (ms)
-- Returns {"ok"}.
typed({ 'zset' })
local now = clock(ARGV[1])
redis.call('ZADD', KEYS[1], whole(now), ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now - tonumber(ARGV[3])))
return { 'ok' }
