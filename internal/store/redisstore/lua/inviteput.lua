-- inviteput stores an invitation.
--
-- KEYS  invite
-- ARGV  now, invite, hash, expires, kept (ms after its end)
-- Returns {"ok"}.
typed({ 'hash' })
local expires = tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'i', ARGV[2], 'hash', ARGV[3], 'expires', ARGV[4], 'tries', '0', 'used', '')
redis.call('PEXPIREAT', KEYS[1], whole(math.max(expires, clock(ARGV[1])) + tonumber(ARGV[5])))
return { 'ok' }
