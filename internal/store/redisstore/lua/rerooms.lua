-- rerooms gives what an agent may do in some rooms to the name it has now, or to
-- nobody: that it is invited there, and that it made the room. It may be repeated.
--
-- KEYS  rooms, then who is invited to each
-- ARGV  old, new or none, the number up to which it applies or none for all, the
--       rooms
-- Returns {"ok"}.
typed({ 'hash' })
for i = 2, #KEYS do redis.call('ZCARD', KEYS[i]) end
local rooms, old, new, last = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]) or math.huge
for i = 2, #KEYS do
  local room = ARGV[i + 2]
  local at = tonumber(redis.call('ZSCORE', KEYS[i], old) or '')
  if at and at <= last then
    redis.call('ZREM', KEYS[i], old)
    if new ~= '' then redis.call('ZADD', KEYS[i], whole(at), new) end
  end
  local read, row = pcall(cjson.decode, redis.call('HGET', rooms, room) or '')
  if read and type(row) == 'table' and row.c == old and tonumber(row.s or 0) <= last then
    row.c = new
    redis.call('HSET', rooms, room, cjson.encode(row))
  end
end
return { 'ok' }
