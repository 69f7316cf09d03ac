-- post_read reads what an agent has not read in its rooms, oldest first over all of
-- them. It looks at so many posts and no more; the next step goes on with the same
-- page. It never writes.
--
-- KEYS  skips rooms[log]
-- ARGV  limit:number most:number lived:number kind capabilities host max_looked:number so_far:number total:number
--       given[] rooms[name after]
-- FLAG  no-writes
-- Given are the posts it has, as "room\0seq in 32 bits"; so_far and total are posts and
-- bytes of the page so far.
-- Returns {next, {after of each room to go on from}, {room, entry id, fact, body} …};
-- next is the sequence of the first post that was left out, or 0. There is nothing to
-- go on from if the page is done.
local can = {}
if capabilities ~= '' and capabilities ~= 'null' then
  for _, capability in ipairs(cjson.decode(capabilities)) do can[capability] = true end
end
given = set_of(given)

-- Which posts are its own, or are mail of it, the name in them does not say: it may
-- have had another then, and another agent this one.
local function is_for_owner(room, seq, ordinal, fact)
  if given[room .. '\0' .. whole(seq % 4294967296)] or redis.call('ZSCORE', skips, skipped(room, ordinal)) then return false end
  if fact.x and lived >= fact.x then return false end
  if fact.w then
    local only = cjson.decode(fact.w)
    if (only.type and only.type ~= kind) or (only.host and only.host ~= host) or (only.capability and not can[only.capability]) then
      return false
    end
  end
  return true
end

-- Each room is read a few posts at a time, as its turn comes.
local FEW = math.max(1, math.min(8, math.floor(128 / #rooms), max_looked))
local looked = 0
local function fill(r)
  while #r.ahead == 0 and r.more and looked < max_looked do
    local entries = redis.call('XRANGE', r.log, '(' .. r.after, '+', 'COUNT', FEW)
    looked = looked + #entries
    r.more = #entries == FEW
    for _, entry in ipairs(entries) do
      r.after = entry[1]
      local seq, ordinal = string.match(entry[1], '^(%d+)%-(%d+)$')
      local fact = entry[2][2]
      seq = tonumber(seq)
      local is = cjson.decode(fact)
      if is_for_owner(r.name, seq, tonumber(ordinal), is) then
        table.insert(r.ahead, { seq = seq, size = is.z, row = { r.name, entry[1], fact, entry[2][4] } })
      elseif #r.ahead == 0 then
        r.done = seq
      end
    end
  end
end

local reading = {}
for _, room in ipairs(rooms) do
  table.insert(reading, { log = room.log, name = room.name, done = tonumber(room.after),
    after = room.after .. '-18446744073709551615', ahead = {}, more = true })
end
local out = { 0, {} }
-- At least each room's next post is looked at, so that every step gets further.
max_looked = math.max(max_looked, FEW * #reading + 1)
for _, r in ipairs(reading) do fill(r) end
while true do
  local oldest, first
  for _, r in ipairs(reading) do
    local ahead = r.ahead[1]
    if ahead then
      if not first or ahead.seq < first then oldest, first = r, ahead.seq end
    elseif r.more then
      -- What it has next may be the oldest of all.
      for i, one in ipairs(reading) do out[2][i] = one.done end
      return out
    end
  end
  if not oldest then return out end
  local post = oldest.ahead[1]
  if so_far >= limit or (so_far > 0 and total + post.size > most) then
    out[1] = post.seq
    return out
  end
  table.insert(out, post.row)
  so_far, total, oldest.done = so_far + 1, total + post.size, post.seq
  table.remove(oldest.ahead, 1)
  fill(oldest)
end
