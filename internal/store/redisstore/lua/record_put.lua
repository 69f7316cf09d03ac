-- record_put stores a record that ends: at expires, or life_ms from now.
--
-- KEYS  record:hash
-- ARGV  now:clock expires life_ms:number kept_ms:number fields[]
-- fields are names and values in turn. It is kept for kept_ms after its end.
-- Returns {"ok", expires}.
local ends = expires == '' and now + life_ms or tonumber(expires)
redis.call('HSET', record, 'expires', whole(ends), unpack(fields))
redis.call('PEXPIREAT', record, whole(math.max(ends, now) + kept_ms))
return { 'ok', whole(ends) }
