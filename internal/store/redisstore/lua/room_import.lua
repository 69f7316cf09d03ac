-- room_import makes a room of another coordinator, empty as yet.
--
-- KEYS  meta:hash rooms:hash roomorder:zset invited:zset imported:hash events:stream
-- ARGV  now:clock channel room origin max_events creator visibility created_at:number guests[]
-- Returns {"imported"}, {"already"}, or {"taken"} if there is another room of this name.
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
if redis.call('HEXISTS', rooms, room) == 1 then return { 'taken' } end

local lived = number(meta, 'lived')
local log = opened()
local seq = emit(log, 'joined', creator, '')
redis.call('HSET', imported, origin, room)
redis.call('HSET', meta, 'imported', whole(lived))
redis.call('ZADD', roomorder, whole(seq), room)
redis.call('HSET', rooms, room, cjson.encode({ c = creator, v = visibility, a = created_at, s = seq, m = 0, q = 0, o = 0, n = 0, b = 0, e = lived }))
for _, guest in ipairs(guests) do redis.call('ZADD', invited, whole(seq), guest) end
return { 'imported' }
