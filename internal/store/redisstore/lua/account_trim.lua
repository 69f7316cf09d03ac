-- account_trim forgets accounts nobody has used for a while. Paused chains are not
-- among them.
--
-- KEYS  flow:hash flowx:zset
-- ARGV  now:clock idle:number limit
-- FLAG  allow-oom
-- Returns {"ok"}.
local fields = redis.call('ZRANGEBYSCORE', flowx, '-inf', whole(now - idle), 'LIMIT', 0, limit)
for _, field in ipairs(fields) do
  redis.call('HDEL', flow, field)
  redis.call('ZREM', flowx, field)
end
return { 'ok' }
