-- posts reads what an agent has not read in its rooms, oldest first over all of
-- them. It never writes.
--
-- KEYS  skips (the agent's), then the rooms
-- ARGV  limit, bytes, lived, type, capabilities, host, number of given
--       posts, those as "room\0seq in 32 bits", then of each room: name, after
-- Returns {next, {room, entry id, fact, body} …}; next is the sequence of the
-- first post that was left out, or 0.
local skips, limit, most, lived = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local kind, host = ARGV[4], ARGV[6]
local can = {}
if ARGV[5] ~= '' and ARGV[5] ~= 'null' then
  for _, capability in ipairs(cjson.decode(ARGV[5])) do can[capability] = true end
end
local given, count = {}, tonumber(ARGV[7])
for i = 8, 7 + count do given[ARGV[i]] = true end

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
local FEW = 8
local function fill(r)
  while #r.ahead == 0 and r.more do
    local entries = redis.call('XRANGE', r.posts, '(' .. r.after, '+', 'COUNT', FEW)
    r.more = #entries == FEW
    for _, entry in ipairs(entries) do
      r.after = entry[1]
      local seq, ordinal = string.match(entry[1], '^(%d+)%-(%d+)$')
      local fact = entry[2][2]
      seq = tonumber(seq)
      local is = cjson.decode(fact)
      if is_for_owner(r.name, seq, tonumber(ordinal), is) then
        table.insert(r.ahead, { seq = seq, size = is.z, row = { r.name, entry[1], fact, entry[2][4] } })
      end
    end
  end
end

local reading = {}
for i = 2, #KEYS do
  local a = 7 + count + (i - 2) * 2
  local r = { posts = KEYS[i], name = ARGV[a + 1], after = ARGV[a + 2] .. '-18446744073709551615', ahead = {}, more = true }
  fill(r)
  table.insert(reading, r)
end
local out, total = { 0 }, 0
while true do
  local oldest
  for _, r in ipairs(reading) do
    if r.ahead[1] and (not oldest or r.ahead[1].seq < oldest.ahead[1].seq) then oldest = r end
  end
  if not oldest then return out end
  local post = oldest.ahead[1]
  if #out - 1 >= limit or (#out > 1 and total + post.size > most) then
    out[1] = post.seq
    return out
  end
  table.insert(out, post.row)
  total = total + post.size
  table.remove(oldest.ahead, 1)
  fill(oldest)
end
