-- roomset changes who sees a room.
--
-- KEYS  agent, rooms, members
-- ARGV  room, id, run, outside, visibility
-- Returns {"ok"}, {"not_creator", creator}, or one word: superseded, no_room.
typed({ 'hash', 'hash', 'zset' })
local agent, rooms, members = KEYS[1], KEYS[2], KEYS[3]
local room, id, run, outside, visibility = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if superseded(agent, run) then return { 'superseded' } end
local row, refusal = created(rooms, room, members, id, outside)
if not row then return refusal end
row.v = visibility
redis.call('HSET', rooms, room, cjson.encode(row))
return { 'ok' }
