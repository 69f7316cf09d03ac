-- grantput stores a grant, new or anew, and sweeps up after those that are
-- long over.
--
-- KEYS  grant, grants, changes, auth
-- ARGV  now, kid, grant, created (empty is now), expires, revoked, fixed, kept (ms after its end)
-- Returns {"ok", revision}.
typed({ 'hash', 'zset', 'zset', 'hash' })
local grant, grants, changes, auth = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, kid, expires = clock(ARGV[1]), ARGV[2], tonumber(ARGV[5])
local created = ARGV[4] == '' and now or tonumber(ARGV[4])
local forgotten = math.max(now, expires) + tonumber(ARGV[8])
local revision = redis.call('HINCRBY', auth, 'revision', 1)
redis.call('HSET', grant, 'g', ARGV[3], 'created', whole(created), 'expires', whole(expires), 'revoked', ARGV[6], 'fixed', ARGV[7])
redis.call('PEXPIREAT', grant, whole(forgotten))
redis.call('ZADD', grants, whole(forgotten), kid)
redis.call('ZADD', changes, whole(revision), kid)
for _, old in ipairs(redis.call('ZRANGE', grants, '-inf', whole(now), 'BYSCORE', 'LIMIT', 0, 100)) do
  redis.call('ZREM', grants, old)
  redis.call('ZREM', changes, old)
end
return { 'ok', revision }
