-- grant_revoke ends a grant for good. To end it twice is to end it once.
--
-- KEYS  grant:hash grants:zset changes:zset auth:hash
-- ARGV  now:clock kid kept_ms:number
-- FLAG  allow-oom
-- Returns {"ok"} or {"unknown"}.
if redis.call('EXISTS', grant) == 0 then return { 'unknown' } end
if redis.call('HGET', grant, 'revoked') == '1' then return { 'ok' } end
local forgotten = whole(now + kept_ms)
local revision = redis.call('HINCRBY', auth, 'revision', 1)
redis.call('HSET', grant, 'revoked', '1')
redis.call('PEXPIREAT', grant, forgotten)
redis.call('ZADD', grants, forgotten, kid)
redis.call('ZADD', changes, whole(revision), kid)
return { 'ok' }
