-- trimretired forgets the last keys of an agent that was retired, once none of
-- its mail is left; else it is looked at again later.
--
-- KEYS  meta, retired, fact, box, mark (the agent's)
-- ARGV  id, lived seconds until the next look
-- Returns {"forgotten"} or {"left"}.
typed({ 'hash', 'zset', 'hash', 'hash', 'hash' })
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return { 'left' } end
if redis.call('HLEN', KEYS[3]) > 0 then
  redis.call('ZADD', KEYS[2], whole(number(KEYS[1], 'lived') + tonumber(ARGV[2])), ARGV[1])
  return { 'left' }
end
redis.call('DEL', KEYS[4], KEYS[5])
redis.call('ZREM', KEYS[2], ARGV[1])
return { 'forgotten' }
