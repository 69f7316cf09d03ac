-- attach says that a node holds a connection of an agent, and renews the
-- node's lease. It works when the store is full.
--
-- KEYS  agent, seen, attached, nodes, meta, heard
-- ARGV  now, id, node, lease, state (what the session does, as its connection says; may be empty)
typed({ 'hash', 'zset', 'zset', 'hash', 'hash', 'zset' })
local agent, seen, attachments, nodes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, id, node, lease = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local lived = number(KEYS[5], 'lived')
local was = redis.call('HGET', agent, 'node') or ''
-- Without a state the node says that nothing of the agent waits here any more. One
-- that waits elsewhere by now stays there.
if ARGV[5] == '' and was ~= node then return { 'ok' } end
if was ~= '' and was ~= node then redis.call('ZREM', attachments, was .. ' ' .. id) end
redis.call('HSET', agent, 'node', node, 'seen', whole(now))
redis.call('HDEL', agent, 'gone')
-- The state is as old as its first word: a repeat, also from another node, keeps it.
if was == '' or redis.call('HGET', agent, 'state') ~= ARGV[5] then
  redis.call('HSET', agent, 'state', ARGV[5], 'state_at', whole(now))
end
redis.call('ZADD', seen, 'inf', id)
redis.call('ZADD', KEYS[6], whole(lived), id)
redis.call('ZADD', attachments, 0, node .. ' ' .. id)
redis.call('HSET', nodes, node, whole(now + lease))
return { 'ok' }
