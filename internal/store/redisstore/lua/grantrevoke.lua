-- grantrevoke ends a grant for good. To end it twice is to end it once.
--
-- KEYS  grant, grants, changes, auth
-- ARGV  now, kid, kept (ms after its end)
-- Returns {"ok"} or {"unknown"}.
typed({ 'hash', 'zset', 'zset', 'hash' })
local grant, grants, changes, auth = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, kid = clock(ARGV[1]), ARGV[2]
if redis.call('EXISTS', grant) == 0 then return { 'unknown' } end
if redis.call('HGET', grant, 'revoked') == '1' then return { 'ok' } end
local forgotten = whole(now + tonumber(ARGV[3]))
local revision = redis.call('HINCRBY', auth, 'revision', 1)
redis.call('HSET', grant, 'revoked', '1')
redis.call('PEXPIREAT', grant, forgotten)
redis.call('ZADD', grants, forgotten, kid)
redis.call('ZADD', changes, whole(revision), kid)
return { 'ok' }
