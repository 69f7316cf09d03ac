-- inbox reads a page of unacked mail in reading order. It never writes.
--
-- KEYS  meta, agent, inbox, body, fact (the owner's)
-- ARGV  now, run, after (position), limit, bytes, min seq
-- Returns {"ok", next, count, seq, now, {hex, fact, body} …} or {"superseded"}.
local meta, agent, inbox, body, fact = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, run, after = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local limit, most, min = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

if superseded(agent, run) then return { 'superseded' } end
min = place(meta, min)
local out = { 'ok', 0, redis.call('ZCARD', inbox), number(meta, 'seq'), now }
local total, count, last = 0, 0, 0
for _, band in ipairs({ { 0, BAND }, { BAND, BAND * 2 } }) do
  local from = math.max(after, band[1] + min)
  if from < band[2] then
    local rows = redis.call('ZRANGEBYSCORE', inbox, '(' .. whole(from), '(' .. whole(band[2]),
      'WITHSCORES', 'LIMIT', 0, limit - count + 1)
    for i = 1, #rows, 2 do
      local hex, position = rows[i], tonumber(rows[i + 1])
      local raw = redis.call('HGET', fact, hex)
      local size = cjson.decode(raw).z
      if count == limit or (count > 0 and total + size > most) then
        out[2] = last
        return out
      end
      table.insert(out, { hex, raw, redis.call('HGET', body, hex) or '' })
      count, total, last = count + 1, total + size, position
    end
  end
end
return out
