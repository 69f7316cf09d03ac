-- agent_attach says that a node holds a connection of an agent, and renews the
-- node's lease. It works when the store is full.
--
-- KEYS  agent:hash seen:zset attached:zset nodes:hash meta:hash heard:zset
-- ARGV  now:clock id node lease:number state alike[] online_window:number
-- FLAG  allow-oom
-- The state is what the session does, as its connection says; it may be empty. The
-- states that are alike, itself among them, have one age.
-- Returns {"ok"}, {"unknown"}, or {"open"} if it is said to be closed and is not.
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local lived = number(meta, 'lived')
local was = redis.call('HGET', agent, 'node') or ''
-- Without a state the node says that nothing of the agent waits here any more. One
-- that waits elsewhere by now stays there.
if state == '' and was ~= node then return { 'ok' } end
-- A closed session has ended and stays so: its host is attached in its place, and holds
-- no name. One that goes on is not closed, whatever its host says.
local gone = redis.call('HEXISTS', agent, 'gone') == 1
if state == 'closed' and not gone then
  if online(agent, nodes, now, online_window) then return { 'open' } end
  redis.call('HSET', agent, 'gone', whole(now))
  redis.call('HDEL', agent, 'cut')
  redis.call('ZADD', seen, 0, id)
  gone = true
end
local closed = gone and (state == 'closed' or state == '')
if was ~= '' and was ~= node then redis.call('ZREM', attached, was .. ' ' .. id) end
redis.call('HSET', agent, 'node', node)
if not closed then
  redis.call('HSET', agent, 'seen', whole(now))
  redis.call('HDEL', agent, 'gone')
end
-- The state is as old as its first word: a repeat, also from another node, keeps it.
local before, same = redis.call('HGET', agent, 'state'), false
for _, s in ipairs(alike) do same = same or s == before end
redis.call('HSET', agent, 'state', state)
if was == '' or not same then redis.call('HSET', agent, 'state_at', whole(now)) end
if not closed then redis.call('ZADD', seen, 'inf', id) end
redis.call('ZADD', heard, whole(lived), id)
-- Whoever is attached counts as online, which a closed session does not.
if closed then
  redis.call('ZREM', attached, node .. ' ' .. id)
else
  redis.call('ZADD', attached, 0, node .. ' ' .. id)
end
redis.call('HSET', nodes, node, whole(now + lease))
return { 'ok' }
