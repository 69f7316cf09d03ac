-- edit_lapse ends all leases of an agent that has been offline for long. It works when the
-- store is full.
--
-- KEYS  agent:hash editors:hash nodes:hash edits:hash
-- ARGV  now:clock offline:number online_window:number
-- FLAG  allow-oom
-- USES  edits
-- Returns {"lapsed"} or {"kept"}.
local r = redis.call('HMGET', agent, 'editing', 'seen', 'gone', 'node')
local by = r[1] and editor_of(r[1])
if not by or online(agent, nodes, now, online_window) then return { 'kept' } end
local last = math.max(by.l, amount(r[2]), amount(r[3]))
if r[4] and r[4] ~= '' then last = math.max(last, amount(redis.call('HGET', nodes, r[4]))) end
if now - last < offline then return { 'kept' } end
stops_editing(agent)
return { 'lapsed' }
