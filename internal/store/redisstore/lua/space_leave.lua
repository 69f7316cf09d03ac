-- space_leave takes a space off the list, to be forgotten a while later; takes it on
-- again; or has done with it.
--
-- KEYS  spaces:set leaving:zset
-- ARGV  now:clock space word
-- FLAG  allow-oom
-- The word is "go", "stay" or "gone".
-- Returns {"ok"}.
if word == 'go' then
  redis.call('SREM', spaces, space)
  redis.call('ZADD', leaving, whole(now), space)
  return { 'ok' }
end
if word == 'stay' then redis.call('SADD', spaces, space) end
redis.call('ZREM', leaving, space)
return { 'ok' }
