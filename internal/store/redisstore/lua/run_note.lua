-- run_note remembers that a run is an agent's, and forgets old ones.
--
-- KEYS  runs:zset
-- ARGV  now:clock run kept_ms:number
-- Returns {"ok"}.
redis.call('ZADD', runs, whole(now), run)
redis.call('ZREMRANGEBYSCORE', runs, '-inf', whole(now - kept_ms))
return { 'ok' }
