-- next finds the first unacked message, in reading order, that a reader was
-- not given. It never writes.
--
-- KEYS  meta, agent, inbox, body, fact (the owner's)
-- ARGV  now, run, reader, min seq, incoming, positioned, then the hexes this
--       node gave
-- Returns {"ok", count, seq, now, hex, fact, body, rooms}; hex is empty if there is
-- none. All unacked mail up to seq was given, the returned message included.
local meta, agent, inbox, body, fact = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, run, reader, min, incoming = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local given = {}
local positioned = ARGV[6]
for i = 7, #ARGV do given[ARGV[i]] = true end

if superseded(agent, run) then return { 'superseded' } end
min = place(meta, min)

local function was_served(f)
  for _, s in ipairs(f.sv or {}) do
    if s.r == reader and not s.b then return positioned ~= '1' or (s.c or 0) <= min end
  end
  return false
end

local found, found_fact
local open = number(meta, 'seq') + 1 -- the lowest number not given
for _, band in ipairs({ { 0, BAND }, { BAND, BAND * 2 } }) do
  local from, more = band[1] + min, true
  while more do
    local rows = redis.call('ZRANGEBYSCORE', inbox, '(' .. whole(from), '(' .. whole(band[2]), 'WITHSCORES', 'LIMIT', 0, 64)
    more = #rows == 128
    for i = 1, #rows, 2 do
      local hex = rows[i]
      from = tonumber(rows[i + 1])
      local raw, f = standing(fact, hex, from - band[1])
      if not given[hex] and not was_served(f) then
        if not found and not (incoming == '1' and f.k == 'reply') then
          found, found_fact = hex, raw
        else
          open = math.min(open, f.q)
          if found then
            more = false
            break
          end
        end
      end
    end
  end
end
local out = { 'ok', redis.call('ZCARD', inbox), open - 1, now, '', '', '', talk(meta, agent) }
if found then out[5], out[6], out[7] = found, found_fact, redis.call('HGET', body, found) or '' end
return out
