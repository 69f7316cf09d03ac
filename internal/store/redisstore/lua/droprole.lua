-- droprole forgets a role that nobody has and whose mailbox holds nothing.
--
-- KEYS  roles, fact, box, mark (the mailbox's)
-- ARGV  role
-- Returns {"ok"}.
typed({ 'zset', 'hash', 'hash', 'hash' })
local role = ARGV[1]
if redis.call('ZLEXCOUNT', KEYS[1], '(' .. role .. ' ', '(' .. role .. '!') == 0 and redis.call('HLEN', KEYS[2]) == 0 then
  redis.call('ZREM', KEYS[1], role .. ' ')
  redis.call('UNLINK', KEYS[3], KEYS[4])
end
return { 'ok' }
