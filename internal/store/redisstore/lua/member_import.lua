-- member_import gives an agent its place in a room that was imported.
--
-- KEYS  meta:hash agent:hash rooms:hash members:zset joined:hash skips:zset imported:hash events:stream
-- ARGV  now:clock channel room id origin max_events read notify hidden[]
-- Read is the origin of the last post it has read, hidden are those of the posts it
-- is not shown; notify is what wakes it, or nothing.
-- Returns {"imported"}, {"already"}, {"unknown"} if there is no such agent, or
-- {"no_room"} if the room has ended here since.
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
local raw = redis.call('HGET', rooms, room)
if not raw then return { 'no_room' } end
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local row, names = roomed(raw), redis.call('HGET', agent, 'rooms')
local at = read ~= '' and redis.call('HGET', imported, read) or '0 0'
local skip = {}
for _, post in ipairs(hidden) do
  local _, ordinal = seat(redis.call('HGET', imported, post))
  if ordinal > 0 then table.insert(skip, skipped(room, ordinal)) end
end
local member = redis.call('ZSCORE', members, id)
local wakes = with_notify(agent, room, notify == '' and 'mentions' or notify)

if member then
  redis.call('HSET', imported, origin, room)
  redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
  return { 'already' }
end
local log = opened()
local seq = emit(log, 'joined', id, '')
redis.call('HSET', imported, origin, room)
redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
row.m, row.e = row.m + 1, nil
redis.call('HSET', rooms, room, cjson.encode(row))
redis.call('ZADD', members, whole(seq), id)
redis.call('HSET', joined, room, at)
redis.call('HSET', agent, 'rooms', (names and names ~= '') and names .. ' ' .. room or room)
if wakes ~= '' then redis.call('HSET', agent, 'notify', wakes) end
for _, place in ipairs(skip) do redis.call('ZADD', skips, 0, place) end
return { 'imported' }
