-- reclaim follows a renaming in the mailbox of a role, for some of its messages:
-- those that the agent holds. It may be repeated.
--
-- KEYS  inbox, fact (the role's)
-- ARGV  old, new, the position to go on behind, how many
-- Returns {"ok", the position to go on behind, or none if that was all}.
typed({ 'zset', 'hash' })
local old, new, many = ARGV[1], ARGV[2], tonumber(ARGV[4])
local rows = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[3], '+inf', 'WITHSCORES', 'LIMIT', 0, many)
for i = 1, #rows, 2 do
  local task = editable(redis.call('HGET', KEYS[2], rows[i]))
  if task and task.cl and task.cl.b == old then
    task.cl.b = new
    redis.call('HSET', KEYS[2], rows[i], cjson.encode(task))
  end
end
return { 'ok', #rows == 2 * many and rows[#rows] or '' }
