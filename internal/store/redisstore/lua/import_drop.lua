-- import_drop forgets what an import brought once nobody can want to repeat it.
-- What older versions imported has no date, and counts from now on.
--
-- KEYS  meta:hash imported:hash
-- ARGV  import_life:number
-- FLAG  allow-oom
-- Returns {"ok"}.
if redis.call('EXISTS', imported) == 1 then
  local lived, last = number(meta, 'lived'), redis.call('HGET', meta, 'imported')
  if not last then
    redis.call('HSET', meta, 'imported', whole(lived))
  elseif lived - tonumber(last) >= import_life then
    redis.call('UNLINK', imported)
    redis.call('HDEL', meta, 'imported')
  end
end
return { 'ok' }
