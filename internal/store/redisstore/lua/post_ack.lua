-- post_ack moves the cursors of one agent to posts it has dealt with. It works
-- when the store is full.
--
-- KEYS  agent:hash rooms:hash joined:hash skips:zset reads:hash posts[log:stream]
-- ARGV  run everybody posts[room from low:number]
-- FLAG  allow-oom
-- A post is known by low, the last 32 bits of its number.
-- Returns {"ok", outcome …} or {"superseded"}.
if superseded(agent, run) then return { 'superseded' } end
local rows = {}
for _, post in ipairs(posts) do
  local raw = redis.call('HGET', rooms, post.room)
  rows[post.room] = raw and roomed(raw).q
end
-- Every key and every row was looked at, so what follows cannot fail, and each
-- post can be settled before the next is read.
local function cursor(room)
  if room == everybody then return redis.call('HGET', agent, 'cast') end
  return redis.call('HGET', joined, room)
end

-- How far readers have come, by room; read once, for those rooms that are acked.
local marks
local function marks_of(room)
  if not marks then
    marks = {}
    local rows = redis.call('HGETALL', reads)
    for i = 1, #rows, 2 do
      local of = string.match(rows[i], '^[^%z]+') or ''
      marks[of] = marks[of] or {}
      marks[of][rows[i]] = rows[i + 1]
    end
  end
  local is = marks[room] or {}
  for field, mark in pairs(is) do
    if type(mark) == 'string' then
      is[field] = amount(noted(mark).q)
    end
  end
  return is
end

local out = { 'ok' }
for _, post in ipairs(posts) do
  local room = post.room
  local at = cursor(room)
  local outcome = 'unknown'
  if at and rows[room] then
    local last = rows[room]
    local seq = last - last % 4294967296 + post.low
    if seq > last then seq = seq - 4294967296 end
    local entry = seq > 0 and redis.call('XRANGE', post.log, whole(seq), whole(seq), 'COUNT', 1)[1]
    if entry and noted(entry[2][2]).f == post.from then
      if seq <= seat(at) then
        outcome = 'already'
      else
        outcome = 'acked'
        local ordinal = tonumber(string.match(entry[1], '%-(%d+)$'))
        local now_at = whole(seq) .. ' ' .. whole(ordinal)
        if room == everybody then
          redis.call('HSET', agent, 'cast', now_at)
        else
          redis.call('HSET', joined, room, now_at)
        end
        redis.call('ZREMRANGEBYLEX', skips, '[' .. room .. '\0', '[' .. skipped(room, ordinal))
        local is = marks_of(room)
        for field, q in pairs(is) do
          if q <= seq then
            redis.call('HDEL', reads, field)
            is[field] = nil
          end
        end
      end
    end
  end
  table.insert(out, outcome)
end
return out
