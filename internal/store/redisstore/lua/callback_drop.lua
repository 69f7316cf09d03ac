-- callback_drop forgets where a caller wanted to be told of its task.
--
-- KEYS  callback:hash
-- ARGV  id
-- FLAG  allow-oom
-- Returns {"ok"} or {"unknown"}.
if redis.call('HDEL', callback, 'b:' .. id) == 0 then return { 'unknown' } end
redis.call('HDEL', callback, 't:' .. id, 'u:' .. id, 'w:' .. id, 'n:' .. id, 's:' .. id)
return { 'ok' }
