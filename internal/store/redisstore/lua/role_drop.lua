-- role_drop forgets a role that nobody has and whose mailbox holds nothing.
--
-- KEYS  roles:zset fact:hash box:hash mark:hash
-- ARGV  role
-- Returns {"ok"}.
if redis.call('ZLEXCOUNT', roles, '(' .. role .. ' ', '(' .. role .. '!') == 0 and redis.call('HLEN', fact) == 0 then
  redis.call('ZREM', roles, role .. ' ')
  redis.call('UNLINK', box, mark)
end
return { 'ok' }
