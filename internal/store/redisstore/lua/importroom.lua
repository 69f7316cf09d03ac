-- importroom makes a room of another coordinator, empty as yet.
--
-- KEYS  meta, rooms, roomorder, invited, imported, events
-- ARGV  now, channel, room, origin, most events, creator, visibility, created,
--       then who is invited
-- Returns {"imported"}, {"already"}, or {"taken"} if there is another room of this name.
typed({ 'hash', 'hash', 'zset', 'zset', 'hash', 'stream' })
local meta, rooms, order, invited, imported, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local now, channel, room, origin, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
if redis.call('HEXISTS', rooms, room) == 1 then return { 'taken' } end

local lived = number(meta, 'lived')
local log = opened(meta, events, channel, most_events, now)
local seq = emit(log, 'joined', ARGV[6], '')
redis.call('HSET', imported, origin, room)
redis.call('HSET', meta, 'imported', whole(lived))
redis.call('ZADD', order, whole(seq), room)
redis.call('HSET', rooms, room, cjson.encode({ c = ARGV[6], v = ARGV[7], a = tonumber(ARGV[8]), s = seq, m = 0, q = 0, o = 0, n = 0, b = 0, e = lived }))
for i = 9, #ARGV do redis.call('ZADD', invited, whole(seq), ARGV[i]) end
return { 'imported' }
