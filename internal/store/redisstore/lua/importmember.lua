-- importmember gives an agent its place in a room that was imported.
--
-- KEYS  meta, agent, rooms, members, joined, skips (the agent's), imported, events
-- ARGV  now, channel, room, id, origin, most events, origin of the last post it
--       has read or nothing, what wakes it or nothing, then the origins of the posts
--       it is not shown
-- Returns {"imported"}, {"already"}, {"unknown"} if there is no such agent, or
-- {"no_room"} if the room has ended here since.
typed({ 'hash', 'hash', 'hash', 'zset', 'hash', 'zset', 'hash', 'stream' })
local meta, agent, rooms, members, joined, skips, imported, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local now, channel, room, id, origin, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
local raw = redis.call('HGET', rooms, room)
if not raw then return { 'no_room' } end
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local row, names = roomed(raw), redis.call('HGET', agent, 'rooms')
local at = ARGV[7] ~= '' and redis.call('HGET', imported, ARGV[7]) or '0 0'
local skip = {}
for i = 9, #ARGV do
  local _, ordinal = seat(redis.call('HGET', imported, ARGV[i]))
  if ordinal > 0 then table.insert(skip, skipped(room, ordinal)) end
end
local member = redis.call('ZSCORE', members, id)
local wakes = with_notify(agent, room, ARGV[8] == '' and 'mentions' or ARGV[8])

if member then
  redis.call('HSET', imported, origin, room)
  redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
  return { 'already' }
end
local log = opened(meta, events, channel, most_events, now)
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
