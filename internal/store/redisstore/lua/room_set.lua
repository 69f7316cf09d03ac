-- room_set changes who sees a room.
--
-- KEYS  agent:hash rooms:hash members:zset
-- ARGV  room id run outside visibility
-- Returns {"ok"}, {"not_creator", creator}, or one word: superseded, no_room.
if superseded(agent, run) then return { 'superseded' } end
local row, refusal = created(rooms, room, members, id, outside)
if not row then return refusal end
row.v = visibility
redis.call('HSET', rooms, room, cjson.encode(row))
return { 'ok' }
