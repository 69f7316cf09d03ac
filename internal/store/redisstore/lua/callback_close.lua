-- callback_close takes a task off the list of those that somebody wants to be told of, if
-- all were told of its last state, or nobody is there.
--
-- KEYS  callback:hash callbacks:zset
-- ARGV  name state
-- FLAG  allow-oom
-- Returns {"closed"} or {"open"}.
for _, field in ipairs(redis.call('HKEYS', callback)) do
  if string.sub(field, 1, 2) == 'b:' and redis.call('HGET', callback, 't:' .. string.sub(field, 3)) ~= state then
    return { 'open' }
  end
end
redis.call('ZREM', callbacks, name)
return { 'closed' }
