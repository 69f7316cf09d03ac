-- grant_put stores a grant, new or anew, and sweeps up after those that are
-- long over.
--
-- KEYS  grant:hash grants:zset changes:zset auth:hash
-- ARGV  now:clock kid text created_at expires:number revoked fixed kept_ms:number
-- Without created_at it is created now; it is kept for kept_ms after its end.
-- Returns {"ok", revision}.
local since = created_at == '' and now or tonumber(created_at)
local forgotten = math.max(now, expires) + kept_ms
local revision = redis.call('HINCRBY', auth, 'revision', 1)
redis.call('HSET', grant, 'g', text, 'created', whole(since), 'expires', whole(expires), 'revoked', revoked, 'fixed', fixed)
redis.call('PEXPIREAT', grant, whole(forgotten))
redis.call('ZADD', grants, whole(forgotten), kid)
redis.call('ZADD', changes, whole(revision), kid)
for _, old in ipairs(redis.call('ZRANGE', grants, '-inf', whole(now), 'BYSCORE', 'LIMIT', 0, 100)) do
  redis.call('ZREM', grants, old)
  redis.call('ZREM', changes, old)
end
return { 'ok', revision }
