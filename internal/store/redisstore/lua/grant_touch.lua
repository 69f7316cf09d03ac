-- grant_touch notes that a grant was used and moves its end away.
--
-- KEYS  grant:hash grants:zset
-- ARGV  now:clock kid life:number kept_ms:number
-- FLAG  allow-oom
-- Returns {"ok"} or {"unknown"}.
local is = redis.call('HMGET', grant, 'expires', 'revoked', 'fixed')
if not is[1] or is[2] == '1' or tonumber(is[1]) <= now then return { 'unknown' } end
redis.call('HSET', grant, 'used', whole(now))
local expires = now + life
if is[3] ~= '1' and expires > tonumber(is[1]) then
  local forgotten = whole(expires + kept_ms)
  redis.call('HSET', grant, 'expires', whole(expires))
  redis.call('PEXPIREAT', grant, forgotten)
  redis.call('ZADD', grants, forgotten, kid)
end
return { 'ok' }
