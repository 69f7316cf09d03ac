-- leaving takes a space off the list, to be forgotten a while later; takes it on
-- again; or has done with it.
--
-- KEYS  spaces, leaving
-- ARGV  now, space, "go", "stay" or "gone"
-- Returns {"ok"}.
redis.call('SCARD', KEYS[1])
typed({ [2] = 'zset' })
local space, word = ARGV[2], ARGV[3]
if word == 'go' then
  redis.call('SREM', KEYS[1], space)
  redis.call('ZADD', KEYS[2], whole(clock(ARGV[1])), space)
  return { 'ok' }
end
if word == 'stay' then redis.call('SADD', KEYS[1], space) end
redis.call('ZREM', KEYS[2], space)
return { 'ok' }
