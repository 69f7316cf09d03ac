-- agent_count counts the agents that are online. It never writes.
--
-- KEYS  seen attached nodes
-- ARGV  now:clock online_window:number
-- FLAG  no-writes
-- Returns {"ok", count}.
local count = redis.call('ZCOUNT', seen, '(' .. whole(now - online_window), '(inf')
local leases = redis.call('HGETALL', nodes)
for i = 1, #leases, 2 do
  if tonumber(leases[i + 1]) > now then
    count = count + redis.call('ZLEXCOUNT', attached, '[' .. leases[i] .. ' ', '(' .. leases[i] .. '!')
  end
end
return { 'ok', count }
