-- agent_unregister ends the session of an agent; the agent stays known. If a stand_in is
-- given, the host of the closed session is attached at that node from this moment on.
--
-- KEYS  meta:hash agent:hash seen:zset attached:zset events:stream heard:zset editors:hash nodes:hash
-- ARGV  now:clock channel id run max_events stand_in lease:number
-- FLAG  allow-oom
-- USES  edits
-- Returns {"ended"} or {"none"}.
local r = redis.call('HMGET', agent, 'seen', 'gone', 'node')
if not r[1] or r[2] or superseded(agent, run) then return { 'none' } end
emit(opened(), 'unregistered', id, '')
redis.call('HSET', agent, 'gone', whole(now))
redis.call('HDEL', agent, 'cut', 'availability', 'task')
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', heard, whole(number(meta, 'lived')), id)
if r[3] and r[3] ~= '' then
  redis.call('ZREM', attached, r[3] .. ' ' .. id)
  redis.call('HDEL', agent, 'node')
end
if stand_in ~= '' then
  redis.call('HSET', agent, 'node', stand_in, 'state', 'closed', 'state_at', whole(now))
  redis.call('HSET', nodes, stand_in, whole(now + lease))
end
stops_editing(agent)
return { 'ended' }
