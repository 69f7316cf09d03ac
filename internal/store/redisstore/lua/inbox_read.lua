-- inbox_read reads a page of unacked mail in reading order. It looks at so many
-- messages and no more; the next step goes on with the same page. It never writes.
--
-- KEYS  meta agent inbox body fact seen attached nodes
-- ARGV  now:clock run after:number limit:number most:number min:number member quiet:flag lease:number max_looked:number
--       count:number total:number last:number
-- FLAG  no-writes
-- Quiet leaves out what a pause of the owner keeps back. Member is the one who reads a
-- queue's mailbox, whose agent it is then. Count, total
-- and last are messages, bytes and the last position of the page so far.
-- Returns {"ok", next, count, seq, now, rooms, paused, {position to go on from or 0,
-- messages, bytes, position of the last}, {hex, fact, body} …} or {"superseded"}.
if superseded(agent, run) then return { 'superseded' } end
min = place(meta, min)
-- What was released since is older than that, so a member is shown all there is.
if member ~= '' and number(meta, 'released') > min then min = 0 end
local own = member == ''
local paused = own and paused_why(meta, agent) or ''
local out = { 'ok', 0, redis.call('ZCARD', inbox), number(meta, 'seq'), now, own and talk(meta, agent) or 0, paused, {} }
local held = quiet and paused ~= '' and redis.call('EXISTS', agent) == 1
local alive = member ~= '' and lives(seen, attached, nodes, now, lease)
local function hidden(f) return held and f.f ~= 'human' or alive and (f.f == member or (f.cl and f.cl.b ~= member and alive(f.cl))) end
local looked = 0
for _, band in ipairs({ { 0, BAND }, { BAND, BAND * 2 } }) do
  local from = math.max(after, band[1] + min)
  local more = from < band[2]
  while more do
    local want = math.min(limit - count + 1, 64, max_looked)
    local rows = redis.call('ZRANGEBYSCORE', inbox, '(' .. whole(from), '(' .. whole(band[2]),
      'WITHSCORES', 'LIMIT', 0, want)
    more = #rows == want * 2
    for i, is in ipairs(facts_of(fact, rows)) do
      local hex = rows[i * 2 - 1]
      from = tonumber(rows[i * 2])
      local raw, f = standing(is, from - band[1])
      if not hidden(f) then
        if count == limit or (count > 0 and total + f.z > most) then
          out[2] = last
          return out
        end
        table.insert(out, { hex, raw, redis.call('HGET', body, hex) or '' })
        count, total, last = count + 1, total + f.z, from
      end
    end
    looked = looked + #rows / 2
    if more and looked >= max_looked then
      out[8] = { from, count, total, last }
      return out
    end
  end
end
return out
