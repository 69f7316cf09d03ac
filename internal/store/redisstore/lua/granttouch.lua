-- granttouch notes that a grant was used and moves its end away.
--
-- KEYS  grant, grants
-- ARGV  now, kid, life, kept (ms after its end)
-- Returns {"ok"} or {"unknown"}.
typed({ 'hash', 'zset' })
local grant, grants = KEYS[1], KEYS[2]
local now, kid = clock(ARGV[1]), ARGV[2]
local is = redis.call('HMGET', grant, 'expires', 'revoked', 'fixed')
if not is[1] or is[2] == '1' or tonumber(is[1]) <= now then return { 'unknown' } end
redis.call('HSET', grant, 'used', whole(now))
local expires = now + tonumber(ARGV[3])
if is[3] ~= '1' and expires > tonumber(is[1]) then
  local forgotten = whole(expires + tonumber(ARGV[4]))
  redis.call('HSET', grant, 'expires', whole(expires))
  redis.call('PEXPIREAT', grant, forgotten)
  redis.call('ZADD', grants, forgotten, kid)
end
return { 'ok' }
