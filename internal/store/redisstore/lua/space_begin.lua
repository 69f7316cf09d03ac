-- space_begin makes a space that has no numbers yet go on above the floor. It works when
-- the store is full.
--
-- KEYS  meta:hash
-- ARGV  sequence epoch
-- FLAG  allow-oom
-- Returns {"ok"}.
if redis.call('HEXISTS', meta, 'seq') == 0 then
  redis.call('HSET', meta, 'seq', sequence)
  if tonumber(epoch) > 1 then redis.call('HSET', meta, 'epoch', epoch) end
end
return { 'ok' }
