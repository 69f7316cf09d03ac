-- invite_put stores an invitation.
--
-- KEYS  invite:hash
-- ARGV  now:clock text hash expires kept_ms:number
-- Returns {"ok"}.
redis.call('HSET', invite, 'i', text, 'hash', hash, 'expires', expires, 'tries', '0', 'used', '')
redis.call('PEXPIREAT', invite, whole(math.max(tonumber(expires), now) + kept_ms))
return { 'ok' }
