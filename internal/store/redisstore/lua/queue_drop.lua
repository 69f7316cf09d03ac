-- queue_drop forgets those of some queues that nobody has and whose mailboxes hold nothing.
--
-- KEYS  roles:zset queues[fact:hash box:hash mark:hash]
-- ARGV  queues[name]
-- FLAG  allow-oom
-- Returns {"ok"}.
local useless = {}
for _, queue in ipairs(queues) do
  local named = redis.call('ZLEXCOUNT', roles, '(' .. queue.name .. ' ', '(' .. queue.name .. '!')
  if named == 0 and redis.call('HLEN', queue.fact) == 0 then table.insert(useless, queue) end
end
for _, queue in ipairs(useless) do
  redis.call('ZREM', roles, queue.name .. ' ')
  redis.call('UNLINK', queue.box, queue.mark)
end
return { 'ok' }
