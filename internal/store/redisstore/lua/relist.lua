-- relist lists some messages by the name that their recipient has now, in their
-- threads and among the tickets: a former name it had will lead to another agent.
-- It may be repeated.
--
-- KEYS  threads, tickets, fact (the recipient's)
-- ARGV  the former name, the name of now, the hexes
-- Returns {"ok"}.
typed({ 'zset', 'zset', 'hash' })
for i = 3, #ARGV do
  local fact = editable(redis.call('HGET', KEYS[3], ARGV[i]))
  local was = fact and fact.f .. '::' .. ARGV[1] .. '::' .. ARGV[i]
  local is = fact and fact.f .. '::' .. ARGV[2] .. '::' .. ARGV[i]
  if fact and redis.call('ZREM', KEYS[1], threaded(fact.t, fact.q, was)) == 1 then
    redis.call('ZADD', KEYS[1], 0, threaded(fact.t, fact.q, is))
    if redis.call('ZREM', KEYS[2], was) == 1 then redis.call('ZADD', KEYS[2], whole(fact.q), is) end
  end
end
return { 'ok' }
