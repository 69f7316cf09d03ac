-- agent_forget forgets the last keys of an agent that was retired, once none of
-- its mail is left; else it is looked at again later.
--
-- KEYS  meta:hash retired:zset fact:hash box:hash mark:hash
-- ARGV  id later:number
-- FLAG  allow-oom
-- Returns {"forgotten"} or {"left"}.
if not redis.call('ZSCORE', retired, id) then return { 'left' } end
if redis.call('HLEN', fact) > 0 then
  redis.call('ZADD', retired, whole(number(meta, 'lived') + later), id)
  return { 'left' }
end
redis.call('DEL', box, mark)
redis.call('ZREM', retired, id)
return { 'forgotten' }
