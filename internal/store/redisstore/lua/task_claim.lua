-- task_claim gives an agent a message of a queue, this one or the next that nobody
-- holds. The rules stand at store.Store.Claim. For the next it looks at so many
-- messages and no more; the next step goes on from there. It works when the store is
-- full.
--
-- KEYS  meta agent:hash inbox:zset body:hash fact:hash roles:zset seen:zset attached:zset nodes:hash events:stream
-- ARGV  now:clock channel id run role mailbox lease:number max_events from hex reader min:number positioned
--       most:number position:number given[]
-- FLAG  allow-oom
-- From and hex are empty for the next; most is how many it looks at, from behind
-- position; given are the hexes this node gave.
-- Returns {"ok", count, now, hex, fact, body, position to go on from or 0}; hex is
-- empty if there is none.
-- Or superseded, stranger, paused, no_message, ended <state>, held <agent>.
min, given = place(meta, min), set_of(given)

if superseded(agent, run) then return { 'superseded' } end
if not redis.call('ZSCORE', roles, role .. ' ' .. id) then return { 'stranger' } end
local paused = redis.call('HGET', agent, 'paused') or ''
if paused == '' then paused = redis.call('HGET', meta, 'paused') or '' end
if paused ~= '' and hex ~= '' then return { 'paused' } end
if paused ~= '' then return { 'ok', redis.call('ZCARD', inbox), now, '', '', '', 0 } end
local alive = lives(seen, attached, nodes, now, lease)

local function was_given(h, f)
  if given[h] then return true end
  for _, s in ipairs(f.sv or {}) do
    if s.r == reader and not s.b then return positioned ~= '1' or (s.c or 0) <= min end
  end
  return false
end

-- free: nobody holds it, or the agent itself, whose reader does not have it.
local function free(h, f)
  if f.f == id then return false end
  if not f.cl or not alive(f.cl) then return true end
  return f.cl.b == id and not was_given(h, f)
end

local found
local rest = 0
if hex ~= '' then
  local raw = redis.call('HGET', fact, hex)
  found = editable(raw)
  if not found or found.f ~= from then return { 'no_message' } end
  if found.s then return { 'ended', found.s } end
  if from == id then return { 'stranger' } end
  if found.cl and found.cl.b ~= id and alive(found.cl) then return { 'held', found.cl.b } end
else
  local looked, few, more = 0, math.min(4, most), true
  while more and not found do
    local rows = redis.call('ZRANGEBYSCORE', inbox, '(' .. whole(position), '+inf', 'WITHSCORES', 'LIMIT', 0, few)
    more = #rows == few * 2
    for i, raw in ipairs(facts_of(fact, rows)) do
      position = tonumber(rows[i * 2])
      looked = looked + 1
      local f = editable(raw)
      if f and free(rows[i * 2 - 1], f) then
        hex, found = rows[i * 2 - 1], f
        break
      end
    end
    few = math.min(64, most)
    if more and not found and looked >= most then
      rest, more = position, false
    end
  end
end
local count = redis.call('ZCARD', inbox)
if not found then return { 'ok', count, now, '', '', '', rest } end
if not (found.cl and found.cl.b == id and alive(found.cl)) then
  local log = opened()
  emit(log, 'claimed', '', found.f .. '::' .. mailbox .. '::' .. hex)
  found.cl, found.st = { b = id, a = now }, nil
  redis.call('HSET', fact, hex, cjson.encode(found))
end
return { 'ok', count, now, hex, redis.call('HGET', fact, hex), redis.call('HGET', body, hex) or '', 0 }
