-- diedeclared says that the process an agent declared is not there, as its own host
-- saw. The agent is offline at once, unless the process never was there and the agent
-- holds a connection: it lives elsewhere then. It works when the store is full.
--
-- KEYS  meta, agent, seen, attached, events, heard, nodes
-- ARGV  now, channel, id, most events, pid, its start or 0, "1" if it was there once
-- Returns {"died"} or {"none"} if the agent declares another, or it is known to be dead.
typed({ 'hash', 'hash', 'zset', 'zset', 'stream', 'zset', 'hash' })
local meta, agent, seen, attachments, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, channel, id, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local r = redis.call('HMGET', agent, 'pid', 'pid_start', 'died', 'node')
if ARGV[5] == '0' or r[1] ~= ARGV[5] or (r[2] or '0') ~= ARGV[6] or r[3] then return { 'none' } end
local lived = number(meta, 'lived')
local connected = attached(r[4], KEYS[7], now)
emit(opened(meta, events, channel, most_events, now), 'died', id, '')
redis.call('HSET', agent, 'died', whole(now))
if ARGV[7] ~= '1' and connected then return { 'died' } end
redis.call('HSET', agent, 'gone', whole(now))
redis.call('HDEL', agent, 'cut', 'availability', 'task')
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', KEYS[6], whole(lived), id)
if r[4] and r[4] ~= '' then
  redis.call('ZREM', attachments, r[4] .. ' ' .. id)
  redis.call('HDEL', agent, 'node')
end
return { 'died' }
