-- trimkeys forgets idempotency keys whose life is over.
--
-- KEYS  meta, idem, idemx
-- ARGV  limit
-- Returns {"ok", forgotten}.
typed({ 'hash', 'hash', 'zset' })
local fields = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', whole(number(KEYS[1], 'lived')), 'LIMIT', 0, tonumber(ARGV[1]))
for _, field in ipairs(fields) do
  redis.call('HDEL', KEYS[2], field)
  redis.call('ZREM', KEYS[3], field)
end
return { 'ok', #fields }
