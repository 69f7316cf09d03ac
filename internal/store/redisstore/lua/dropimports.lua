-- dropimports forgets what an import brought once nobody can want to repeat it.
-- What older versions imported has no date, and counts from now on.
--
-- KEYS  meta, imported
-- ARGV  lived seconds after the last step of an import
-- Returns {"ok"}.
typed({ 'hash', 'hash' })
if redis.call('EXISTS', KEYS[2]) == 1 then
  local lived, last = number(KEYS[1], 'lived'), redis.call('HGET', KEYS[1], 'imported')
  if not last then
    redis.call('HSET', KEYS[1], 'imported', whole(lived))
  elseif lived - tonumber(last) >= tonumber(ARGV[1]) then
    redis.call('UNLINK', KEYS[2])
    redis.call('HDEL', KEYS[1], 'imported')
  end
end
return { 'ok' }
