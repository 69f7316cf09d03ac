-- message_relist lists some messages by the name that their recipient has now, in their
-- threads and among the tickets: a former name it had will lead to another agent.
-- It may be repeated.
--
-- KEYS  threads:zset tickets:zset facts:hash
-- ARGV  former today hexes[]
-- FLAG  allow-oom
-- Returns {"ok"}.
for _, hex in ipairs(hexes) do
  local fact = editable(redis.call('HGET', facts, hex))
  local was = fact and fact.f .. '::' .. former .. '::' .. hex
  local is = fact and fact.f .. '::' .. today .. '::' .. hex
  if fact and redis.call('ZREM', threads, threaded(fact.t, fact.q, was)) == 1 then
    redis.call('ZADD', threads, 0, threaded(fact.t, fact.q, is))
    local at = redis.call('ZSCORE', tickets, was)
    if at then
      redis.call('ZREM', tickets, was)
      redis.call('ZADD', tickets, at, is)
    end
  end
end
return { 'ok' }
