-- post_import adds what was said in a room of another coordinator to its log here.
--
-- KEYS  meta:hash rooms:hash room_log:stream imported:hash events:stream
-- ARGV  now:clock channel room origin max_events address facts body
-- Returns {"imported"}, {"already"}, or {"no_room"} if the room has ended here since.
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
local raw = redis.call('HGET', rooms, room)
if not raw then return { 'no_room' } end
local row, fact = roomed(raw), cjson.decode(facts)

local log = opened()
local seq = emit(log, 'posted', address, row.v == 'invite_only' and '' or fact.f .. '::' .. address .. '::' .. permuted(log.seq + 1))
row.q, row.o, row.n, row.b = seq, row.o + 1, row.n + 1, row.b + fact.z
redis.call('XADD', room_log, whole(seq) .. '-' .. whole(row.o), 'f', facts, 'b', body)
redis.call('HSET', rooms, room, cjson.encode(row))
redis.call('HSET', imported, origin, whole(seq) .. ' ' .. whole(row.o))
redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
return { 'imported' }
