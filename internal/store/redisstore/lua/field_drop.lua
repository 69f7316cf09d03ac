-- field_drop forgets fields of a hash that are still as they were when they were found
-- to be of no use. It works when the store is full.
--
-- KEYS  hash:hash
-- ARGV  fields[field value]
-- FLAG  allow-oom
-- Returns {"ok"}.
for _, is in ipairs(fields) do
  if redis.call('HGET', hash, is.field) == is.value then redis.call('HDEL', hash, is.field) end
end
return { 'ok' }
