-- online counts the agents that are online. It never writes.
--
-- KEYS  seen, attached, nodes
-- ARGV  now, online window
-- Returns {"ok", count}.
local now, window = clock(ARGV[1]), tonumber(ARGV[2])
local count = redis.call('ZCOUNT', KEYS[1], '(' .. whole(now - window), '(inf')
local nodes = redis.call('HGETALL', KEYS[3])
for i = 1, #nodes, 2 do
  if tonumber(nodes[i + 1]) > now then
    count = count + redis.call('ZLEXCOUNT', KEYS[2], '[' .. nodes[i] .. ' ', '(' .. nodes[i] .. '!')
  end
end
return { 'ok', count }
