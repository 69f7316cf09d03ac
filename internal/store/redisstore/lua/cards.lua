-- cards reads the records of agents. It never writes.
--
-- KEYS  meta, nodes, then the agents
-- ARGV  now, online window
-- Returns a card per agent; that of an unknown one is empty.
local now, window = clock(ARGV[1]), tonumber(ARGV[2])
local out = {}
for i = 3, #KEYS do table.insert(out, card(KEYS[i], KEYS[2], KEYS[1], now, window)) end
return out
