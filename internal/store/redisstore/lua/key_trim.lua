-- key_trim forgets idempotency keys whose life is over.
--
-- KEYS  meta:hash idem:hash idemx:zset
-- ARGV  limit:number
-- FLAG  allow-oom
-- Returns {"ok", forgotten}.
local fields = redis.call('ZRANGEBYSCORE', idemx, '-inf', whole(number(meta, 'lived')), 'LIMIT', 0, limit)
for _, field in ipairs(fields) do
  redis.call('HDEL', idem, field)
  redis.call('ZREM', idemx, field)
end
return { 'ok', #fields }
