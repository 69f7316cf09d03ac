-- process_end says that the process an agent declared is not there, as its own host
-- saw. The agent is offline at once, unless the process never was there and the agent
-- holds a connection: it lives elsewhere then. It works when the store is full.
--
-- KEYS  meta:hash agent:hash seen:zset attached:zset events:stream heard:zset nodes:hash editors:hash
-- ARGV  now:clock channel id max_events pid start was_there:flag
-- FLAG  allow-oom
-- USES  edits
-- Returns {"died"} or {"none"} if the agent declares another, or it is known to be dead.
local r = redis.call('HMGET', agent, 'pid', 'pid_start', 'died', 'node', 'gone')
if pid == '0' or r[1] ~= pid or (r[2] or '0') ~= start or r[3] then return { 'none' } end
local lived = number(meta, 'lived')
-- Of a session that had ended before, its host is attached, and stays so.
local connected = not r[5] and is_attached(r[4], nodes, now)
emit(opened(), 'died', id, '')
redis.call('HSET', agent, 'died', whole(now))
if not was_there and connected then return { 'died' } end
redis.call('HSET', agent, 'gone', whole(now))
redis.call('HDEL', agent, 'cut', 'availability', 'task')
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', heard, whole(lived), id)
if r[4] and r[4] ~= '' and not r[5] then
  redis.call('ZREM', attached, r[4] .. ' ' .. id)
  redis.call('HDEL', agent, 'node')
end
stops_editing(agent)
return { 'died' }
