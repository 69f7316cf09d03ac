-- callback_note writes down that a caller was told of a state, or when it is tried again.
--
-- KEYS  callback:hash
-- ARGV  now:clock id state told:flag pause:number
-- FLAG  allow-oom
-- Returns {"ok"} or {"gone"}.
if redis.call('HEXISTS', callback, 'b:' .. id) == 0 then return { 'gone' } end
if told then
  redis.call('HSET', callback, 't:' .. id, state)
  redis.call('HDEL', callback, 'u:' .. id, 'w:' .. id, 'n:' .. id, 's:' .. id)
else
  local tries = amount(redis.call('HGET', callback, 'n:' .. id)) + 1
  redis.call('HSET', callback, 'u:' .. id, whole(now + pause), 'n:' .. id, whole(tries))
end
return { 'ok' }
