-- importpost adds what was said in a room of another coordinator to its log here.
--
-- KEYS  meta, rooms, room, imported, events
-- ARGV  now, channel, room, origin, most events, address, facts, body
-- Returns {"imported"}, {"already"}, or {"no_room"} if the room has ended here since.
typed({ 'hash', 'hash', 'stream', 'hash', 'stream' })
local meta, rooms, posts, imported, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, channel, room, origin, most_events, address = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
local raw = redis.call('HGET', rooms, room)
if not raw then return { 'no_room' } end
local row, fact = roomed(raw), cjson.decode(ARGV[7])

local log = opened(meta, events, channel, most_events, now)
local seq = emit(log, 'posted', address, row.v == 'invite_only' and '' or fact.f .. '::' .. address .. '::' .. permuted(log.seq + 1))
row.q, row.o, row.n, row.b = seq, row.o + 1, row.n + 1, row.b + fact.z
redis.call('XADD', posts, whole(seq) .. '-' .. whole(row.o), 'f', ARGV[7], 'b', ARGV[8])
redis.call('HSET', rooms, room, cjson.encode(row))
redis.call('HSET', imported, origin, whole(seq) .. ' ' .. whole(row.o))
redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
return { 'imported' }
