-- queue_drop forgets a queue that nobody has and whose mailbox holds nothing.
--
-- KEYS  roles:zset fact:hash box:hash mark:hash
-- ARGV  queue
-- FLAG  allow-oom
-- Returns {"ok"}.
if redis.call('ZLEXCOUNT', roles, '(' .. queue .. ' ', '(' .. queue .. '!') == 0 and redis.call('HLEN', fact) == 0 then
  redis.call('ZREM', roles, queue .. ' ')
  redis.call('UNLINK', box, mark)
end
return { 'ok' }
