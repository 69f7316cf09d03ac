-- drop forgets fields of a hash that are still as they were when they were found
-- to be of no use. It works when the store is full.
--
-- KEYS  the hash
-- ARGV  field and value, again and again
-- Returns {"ok"}.
typed({ 'hash' })
for i = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[i + 1] then redis.call('HDEL', KEYS[1], ARGV[i]) end
end
return { 'ok' }
