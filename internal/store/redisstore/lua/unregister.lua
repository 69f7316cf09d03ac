-- unregister ends the session of an agent; the agent stays known.
--
-- KEYS  meta, agent, seen, attached, events, heard
-- ARGV  now, channel, id, run, most events
-- Returns {"ended"} or {"none"}.
typed({ 'hash', 'hash', 'zset', 'zset', 'stream', 'zset' })
local meta, agent, seen, attachments, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, channel, id, run, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local r = redis.call('HMGET', agent, 'seen', 'gone', 'node')
if not r[1] or r[2] or superseded(agent, run) then return { 'none' } end
emit(opened(meta, events, channel, most_events, now), 'unregistered', id, '')
redis.call('HSET', agent, 'gone', whole(now))
redis.call('HDEL', agent, 'cut', 'availability', 'task')
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', KEYS[6], whole(number(meta, 'lived')), id)
if r[3] and r[3] ~= '' then
  redis.call('ZREM', attachments, r[3] .. ' ' .. id)
  redis.call('HDEL', agent, 'node')
end
return { 'ended' }
