-- agent_attach says that a node holds a connection of an agent, and renews the
-- node's lease. It works when the store is full.
--
-- KEYS  agent:hash seen:zset attached:zset nodes:hash meta:hash heard:zset
-- ARGV  now:clock id node lease:number state alike[]
-- FLAG  allow-oom
-- The state is what the session does, as its connection says; it may be empty. The
-- states that are alike, itself among them, have one age.
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local lived = number(meta, 'lived')
local was = redis.call('HGET', agent, 'node') or ''
-- Without a state the node says that nothing of the agent waits here any more. One
-- that waits elsewhere by now stays there.
if state == '' and was ~= node then return { 'ok' } end
if was ~= '' and was ~= node then redis.call('ZREM', attached, was .. ' ' .. id) end
redis.call('HSET', agent, 'node', node, 'seen', whole(now))
redis.call('HDEL', agent, 'gone')
-- The state is as old as its first word: a repeat, also from another node, keeps it.
local before, same = redis.call('HGET', agent, 'state'), false
for _, s in ipairs(alike) do same = same or s == before end
redis.call('HSET', agent, 'state', state)
if was == '' or not same then redis.call('HSET', agent, 'state_at', whole(now)) end
redis.call('ZADD', seen, 'inf', id)
redis.call('ZADD', heard, whole(lived), id)
redis.call('ZADD', attached, 0, node .. ' ' .. id)
redis.call('HSET', nodes, node, whole(now + lease))
return { 'ok' }
