-- task_reassign follows a renaming in the mailbox of a queue, for some of its messages:
-- those that the agent holds. It may be repeated.
--
-- KEYS  inbox:zset fact:hash
-- ARGV  old new after many:number
-- FLAG  allow-oom
-- Returns {"ok", the position to go on behind, or none if that was all}.
local rows = redis.call('ZRANGEBYSCORE', inbox, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, many)
for i = 1, #rows, 2 do
  local task = editable(redis.call('HGET', fact, rows[i]))
  if task and task.cl and task.cl.b == old then
    task.cl.b = new
    redis.call('HSET', fact, rows[i], cjson.encode(task))
  end
end
return { 'ok', #rows == 2 * many and rows[#rows] or '' }
