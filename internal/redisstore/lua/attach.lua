-- attach says that a node holds a connection of an agent, and renews the
-- node's lease. It works when the store is full.
--
-- KEYS  agent, seen, attached, nodes, meta, heard
-- ARGV  now, id, node, lease, asleep (1: the connection does not wake it)
typed({ 'hash', 'zset', 'zset', 'hash', 'hash', 'zset' })
local agent, seen, attachments, nodes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, id, node, lease = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local was = redis.call('HGET', agent, 'node') or ''
if was ~= '' and was ~= node then redis.call('ZREM', attachments, was .. ' ' .. id) end
redis.call('HSET', agent, 'node', node, 'seen', whole(now))
redis.call('HDEL', agent, 'gone')
if ARGV[5] == '1' then redis.call('HSET', agent, 'asleep', '1') else redis.call('HDEL', agent, 'asleep') end
redis.call('ZADD', seen, 'inf', id)
redis.call('ZADD', KEYS[6], whole(number(KEYS[5], 'lived')), id)
redis.call('ZADD', attachments, 0, node .. ' ' .. id)
redis.call('HSET', nodes, node, whole(now + lease))
return { 'ok' }
