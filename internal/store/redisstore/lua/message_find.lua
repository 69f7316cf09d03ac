-- message_find looks for the first unacked message, in reading order, that a reader was
-- not given. It looks at so many messages and no more: what was found so far goes
-- back, and the next step goes on from there. It never writes.
--
-- KEYS  meta agent inbox body fact mark
-- ARGV  now:clock run reader min:number incoming positioned most:number after:number open:number found:flag given[]
-- FLAG  no-writes
-- USES  marks
-- Most is how many it looks at, from behind the position after. Open is the lowest number
-- not given so far (0: none is known); given are the hexes this node gave.
-- Returns {"ok", count, lowest number not given, now, hex, fact, body, rooms,
-- looked at, position to go on from or 0, node of the agent, why it is paused}; of a paused
-- agent's mail only what a person wrote is found; hex is empty if there is none,
-- or if one was found before.
given = set_of(given)

if superseded(agent, run) then return { 'superseded' } end
local books, count = redis.call('HMGET', meta, 'began', 'seq', 'paused'), redis.call('ZCARD', inbox)
local began = counted_as(books[1], 'began')
if min < began then min = 0 end -- as place does
if positioned ~= '1' and count > 0 then
  local mine = marked(mark, reader)
  if mine and mine.g and mine.g >= began then min = math.max(min, mine.g) end
end
-- What comes while this is looked for is above the number of the first step.
if open == 0 then open = counted_as(books[2], 'seq') + 1 end

local function was_served(f)
  for _, s in ipairs(f.sv or {}) do
    if s.r == reader and not s.b then return positioned ~= '1' or (s.c or 0) <= min end
  end
  return false
end

local rooms, node, paused = talk(meta, agent)
if paused == '' then paused = books[3] end
paused = paused or ''
local looked, rest, found_hex, found_fact = 0, 0, '', ''
for _, band in ipairs(count > 0 and { { 0, BAND }, { BAND, BAND * 2 } } or {}) do
  local from, few = math.max(after, band[1] + min), math.min(4, most)
  local more = from < band[2] and rest == 0
  while more do
    local rows = redis.call('ZRANGEBYSCORE', inbox, '(' .. whole(from), '(' .. whole(band[2]), 'WITHSCORES', 'LIMIT', 0, few)
    more = #rows == few * 2
    for i, is in ipairs(facts_of(fact, rows)) do
      local hex = rows[i * 2 - 1]
      from = tonumber(rows[i * 2])
      local raw, f = standing(is, from - band[1])
      looked = looked + 1
      if not given[hex] and not was_served(f) then
        if not found and not (incoming == '1' and f.k == 'reply') and (paused == '' or f.f == 'human') then
          found, found_hex, found_fact = true, hex, raw
        else
          open = math.min(open, f.q)
          if found then
            more = false
            break
          end
        end
      end
    end
    few = math.min(64, most)
    if more and looked >= most then
      rest, more = from, false
    end
  end
end
local out = { 'ok', count, open, now, found_hex, found_fact, '', rooms, looked, rest, node, paused }
if found_hex ~= '' then out[7] = redis.call('HGET', body, found_hex) or '' end
return out
