-- room_reassign gives what an agent may do in some rooms to the name it has now, or to
-- nobody: that it is invited there, and that it made the room. It may be repeated.
--
-- KEYS  rooms:hash places[invited:zset]
-- ARGV  old new last places[room]
-- FLAG  allow-oom
-- New is empty for nobody; last is the number up to which it applies, empty for all.
-- Returns {"ok"}.
last = tonumber(last) or math.huge
for _, one in ipairs(places) do
  local invited, room = one.invited, one.room
  local at = tonumber(redis.call('ZSCORE', invited, old) or '')
  if at and at <= last then
    redis.call('ZREM', invited, old)
    if new ~= '' then redis.call('ZADD', invited, whole(at), new) end
  end
  local read, row = pcall(cjson.decode, redis.call('HGET', rooms, room) or '')
  if read and type(row) == 'table' and row.c == old and tonumber(row.s or 0) <= last then
    row.c = new
    redis.call('HSET', rooms, room, cjson.encode(row))
  end
end
return { 'ok' }
