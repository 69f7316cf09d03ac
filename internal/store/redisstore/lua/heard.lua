-- heard writes down how far readers have come in rooms.
--
-- KEYS  heard and joined of each note's owner
-- ARGV  of each note: room and reader, sequence of the post, cursor, at, whether the
--       room is the built-in one; then of how many readers of an agent in a room it is kept
local most = tonumber(ARGV[#ARGV])
for i = 1, #KEYS do typed({ [i] = 'hash' }) end
for i = 1, #KEYS / 2 do
  local heard, joined = KEYS[2 * i - 1], KEYS[2 * i]
  local a = (i - 1) * 5
  local field, seq, cursor, at = ARGV[a + 1], tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  local room = string.match(field, '^[^%z]+')
  local member = ARGV[a + 5] == '1' or redis.call('HEXISTS', joined, room) == 1
  local raw = redis.call('HGET', heard, field)
  if member and (not raw or amount(noted(raw).q) < seq) then
    redis.call('HSET', heard, field, cjson.encode({ q = seq, c = cursor, a = at }))
    if not raw then
      -- Those that read last are kept.
      local all, readers = redis.call('HGETALL', heard), {}
      for j = 1, #all, 2 do
        if string.sub(all[j], 1, #room + 1) == room .. '\0' then
          table.insert(readers, { all[j], amount(noted(all[j + 1]).a) })
        end
      end
      table.sort(readers, function(x, y) return x[2] > y[2] or (x[2] == y[2] and x[1] < y[1]) end)
      for j = most + 1, #readers do redis.call('HDEL', heard, readers[j][1]) end
    end
  end
end
return { 'ok' }
