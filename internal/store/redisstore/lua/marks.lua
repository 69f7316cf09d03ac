-- A mark is how far one reader of an agent's mail has come: q, a, o of what it was
-- told up to where, when and how; h the same q and a of the notices before, the
-- oldest first, and d the q of the last that was dropped; g up to where it was given all. An agent can have any
-- number of sessions, so only the marks of those that came furthest are kept: of
-- the others less is told than happened.

-- marked reads a mark; nil if there is none, or if it cannot be read.
local function legible_mark(raw)
  local read, mark = pcall(cjson.decode, raw)
  if not read or type(mark) ~= 'table' then return nil end
  for _, field in ipairs({ 'q', 'g', 'a', 'd' }) do
    if mark[field] ~= nil and type(mark[field]) ~= 'number' then return nil end
  end
  if type(mark.h) ~= 'table' then mark.h = nil end
  for _, n in ipairs(mark.h or {}) do
    if type(n) ~= 'number' then
      mark.h = nil
      break
    end
  end
  return mark
end
local function marked(key, reader)
  local raw = redis.call('HGET', key, reader)
  return raw and legible_mark(raw) or nil
end

-- further is a mark whose reader was told of more. Of the notices before it the last
-- are kept, so that when the reader was told of a message does not change.
local function further(mark, seq, at, route, most)
  local is = { q = seq, a = at, o = route }
  if not mark then return is end
  is.g, is.d, is.h = mark.g, mark.d, mark.h or {}
  if mark.q and mark.a then
    table.insert(is.h, mark.q)
    table.insert(is.h, mark.a)
  end
  while #is.h >= 2 * most do
    is.d = is.h[1]
    table.remove(is.h, 1)
    table.remove(is.h, 1)
  end
  if #is.h == 0 then is.h = nil end
  return is
end

-- put_mark keeps a mark, if it is among the most that came furthest. Before there
-- was a bound a hash could be any size; then some of it goes with each new reader.
local SAMPLE = 32
local function put_mark(key, reader, known, mark, most)
  local over = known and 0 or redis.call('HLEN', key) + 1 - most
  if over > 0 then
    local function rank(who, is) return { who, math.max(tonumber(is.q) or 0, tonumber(is.g) or 0), tonumber(is.a) or 0 } end
    local all = { rank(reader, mark) }
    local rows = redis.call('HRANDFIELD', key, SAMPLE, 'WITHVALUES')
    for i = 1, #rows, 2 do
      table.insert(all, rank(rows[i], legible_mark(rows[i + 1]) or {}))
    end
    table.sort(all, function(x, y)
      if x[2] ~= y[2] then return x[2] < y[2] end
      if x[3] ~= y[3] then return x[3] < y[3] end
      return x[1] < y[1]
    end)
    for i = 1, math.min(over, #all - most) do
      if all[i][1] == reader then mark = nil else redis.call('HDEL', key, all[i][1]) end
    end
  end
  if mark then redis.call('HSET', key, reader, cjson.encode(mark)) end
end
