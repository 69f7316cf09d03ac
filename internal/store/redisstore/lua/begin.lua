-- begin makes a space that has no numbers yet go on above the floor. It works when
-- the store is full.
--
-- KEYS  meta
-- ARGV  sequence, epoch
-- Returns {"ok"}.
typed({ 'hash' })
if redis.call('HEXISTS', KEYS[1], 'seq') == 0 then
  redis.call('HSET', KEYS[1], 'seq', ARGV[1])
  if tonumber(ARGV[2]) > 1 then redis.call('HSET', KEYS[1], 'epoch', ARGV[2]) end
end
return { 'ok' }
