-- run_end says that the process of an agent's run has ended, as its own host saw.
-- The agent is offline at once, and stays known. It works when the store is full.
--
-- KEYS  meta:hash agent:hash seen:zset attached:zset events:stream heard:zset editors:hash
-- ARGV  now:clock channel id run max_events
-- FLAG  allow-oom
-- USES  edits
-- Returns {"died"} or {"none"} if the run does not hold the id, or is known to
-- be dead.
local r = redis.call('HMGET', agent, 'run', 'died', 'node', 'gone')
if run == '' or r[1] ~= run or r[2] then return { 'none' } end
emit(opened(), 'died', id, '')
redis.call('HSET', agent, 'died', whole(now), 'gone', whole(now))
redis.call('HDEL', agent, 'cut', 'availability', 'task')
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', heard, whole(number(meta, 'lived')), id)
-- Of a session that had ended before, its host is attached, and stays so.
if r[3] and r[3] ~= '' and not r[4] then
  redis.call('ZREM', attached, r[3] .. ' ' .. id)
  redis.call('HDEL', agent, 'node')
end
stops_editing(agent)
return { 'died' }
