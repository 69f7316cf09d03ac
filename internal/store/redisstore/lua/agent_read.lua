-- agent_read reads the records of agents. It never writes.
--
-- KEYS  meta nodes agents[]
-- ARGV  now:clock online_window:number
-- FLAG  no-writes
-- Returns a card per agent; that of an unknown one is empty.
local out = {}
for _, agent in ipairs(agents) do table.insert(out, card(agent, nodes, meta, now, online_window)) end
return out
