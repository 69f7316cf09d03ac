-- die says that the process of an agent's run has ended, as its own host saw.
-- The agent is offline at once, and stays known. It works when the store is full.
--
-- KEYS  meta, agent, seen, attached, events, heard
-- ARGV  now, channel, id, run, most events
-- Returns {"died"} or {"none"} if the run does not hold the id, or is known to
-- be dead.
typed({ 'hash', 'hash', 'zset', 'zset', 'stream', 'zset' })
local meta, agent, seen, attachments, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, channel, id, run, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local r = redis.call('HMGET', agent, 'run', 'died', 'node')
if run == '' or r[1] ~= run or r[2] then return { 'none' } end
emit(opened(meta, events, channel, most_events, now), 'died', id, '')
redis.call('HSET', agent, 'died', whole(now), 'gone', whole(now))
redis.call('HDEL', agent, 'cut', 'availability', 'task')
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', KEYS[6], whole(number(meta, 'lived')), id)
if r[3] and r[3] ~= '' then
  redis.call('ZREM', attachments, r[3] .. ' ' .. id)
  redis.call('HDEL', agent, 'node')
end
return { 'died' }
