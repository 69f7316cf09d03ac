-- reader_note writes down how far readers have come in rooms.
--
-- KEYS  notes[reads:hash joined:hash]
-- ARGV  most:number notes[field seq:number cursor:number at:number everybody:flag]
for _, note in ipairs(notes) do
  local reads, field, seq = note.reads, note.field, note.seq
  local room = string.match(field, '^[^%z]+')
  local member = note.everybody or redis.call('HEXISTS', note.joined, room) == 1
  local raw = redis.call('HGET', reads, field)
  if member and (not raw or amount(noted(raw).q) < seq) then
    redis.call('HSET', reads, field, cjson.encode({ q = seq, c = note.cursor, a = note.at }))
    if not raw then
      -- Those that read last are kept.
      local all, readers = redis.call('HGETALL', reads), {}
      for j = 1, #all, 2 do
        if string.sub(all[j], 1, #room + 1) == room .. '\0' then
          table.insert(readers, { all[j], amount(noted(all[j + 1]).a) })
        end
      end
      table.sort(readers, function(x, y) return x[2] > y[2] or (x[2] == y[2] and x[1] < y[1]) end)
      for j = most + 1, #readers do redis.call('HDEL', reads, readers[j][1]) end
    end
  end
end
return { 'ok' }
