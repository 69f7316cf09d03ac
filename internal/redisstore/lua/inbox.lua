-- inbox reads a page of unacked mail in reading order. It never writes.
--
-- KEYS  meta, agent, inbox, body, fact (the owner's); of a role's mailbox read by
--       a member, whose agent it is then, also seen, attached, nodes
-- ARGV  now, run, after (position), limit, bytes, min seq, member, lease
-- Returns {"ok", next, count, seq, now, rooms, paused, {hex, fact, body} …} or {"superseded"}.
local meta, agent, inbox, body, fact = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, run, after = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local limit, most, min = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

if superseded(agent, run) then return { 'superseded' } end
min = place(meta, min)
local own = ARGV[7] == ''
local out = { 'ok', 0, redis.call('ZCARD', inbox), number(meta, 'seq'), now, own and talk(meta, agent) or 0, own and paused_why(meta, agent) or '' }
local total, count, last = 0, 0, 0
local member = ARGV[7]
local alive = member ~= '' and lives(KEYS[6], KEYS[7], KEYS[8], now, tonumber(ARGV[8]))
local function hidden(f) return alive and (f.f == member or (f.cl and f.cl.b ~= member and alive(f.cl))) end
for _, band in ipairs({ { 0, BAND }, { BAND, BAND * 2 } }) do
  local from = math.max(after, band[1] + min)
  local more = from < band[2]
  while more do
    local want = limit - count + 1
    local rows = redis.call('ZRANGEBYSCORE', inbox, '(' .. whole(from), '(' .. whole(band[2]),
      'WITHSCORES', 'LIMIT', 0, want)
    more = #rows == want * 2
    for i = 1, #rows, 2 do
      local hex = rows[i]
      from = tonumber(rows[i + 1])
      local raw, f = standing(fact, hex, from - band[1])
      if not hidden(f) then
        if count == limit or (count > 0 and total + f.z > most) then
          out[2] = last
          return out
        end
        table.insert(out, { hex, raw, redis.call('HGET', body, hex) or '' })
        count, total, last = count + 1, total + f.z, from
      end
    end
  end
end
return out
