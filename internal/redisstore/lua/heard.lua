-- heard writes down how far readers have come in rooms.
--
-- KEYS  heard and joined of each note's owner
-- ARGV  of each note: room and reader, sequence of the post, cursor, at, whether the
--       room is the built-in one
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
  end
end
return { 'ok' }
