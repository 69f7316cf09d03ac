-- trimflow forgets accounts nobody has used for a while. Paused chains are not
-- among them.
--
-- KEYS  flow, flowx
-- ARGV  now, unused for so long, limit
-- Returns {"ok"}.
typed({ 'hash', 'zset' })
local now, idle = clock(ARGV[1]), tonumber(ARGV[2])
local fields = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', whole(now - idle), 'LIMIT', 0, ARGV[3])
for _, field in ipairs(fields) do
  redis.call('HDEL', KEYS[1], field)
  redis.call('ZREM', KEYS[2], field)
end
return { 'ok' }
