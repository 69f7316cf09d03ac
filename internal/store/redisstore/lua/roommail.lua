-- roommail says how far an agent has come in its rooms, and how much is left.
-- It never writes, and costs the same whatever was said.
--
-- KEYS  meta, agent, rooms, joined, skips, heard (the agent's)
-- ARGV  now, run, reader, the built-in room, after
-- Returns {"ok", seq, lived, now, after, type, capabilities, host, {room, cursor, last
-- sequence, unread, heard, what wakes it} …} or {"superseded"}.
local meta, agent, rooms, joined, skips, heard = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local now, run, reader, everybody, after = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

if superseded(agent, run) then return { 'superseded' } end
local is = redis.call('HMGET', agent, 'type', 'capabilities', 'host', 'cast')
local out = { 'ok', number(meta, 'seq'), number(meta, 'lived'), now, place(meta, after), is[1] or '', is[2] or '', is[3] or '' }

local function add(room, cursor)
  local raw = redis.call('HGET', rooms, room)
  if not raw then return end
  local row = cjson.decode(raw)
  local seq, ordinal = seat(cursor)
  local from = math.max(ordinal, row.o - row.n)
  local unread = row.o - from - redis.call('ZLEXCOUNT', skips, '[' .. skipped(room, from + 1), '(' .. room .. '\1')
  table.insert(out, { room, seq, row.q, unread, redis.call('HGET', heard, room .. '\0' .. reader) or '', notified(agent, room) })
end

local places = redis.call('HGETALL', joined)
for i = 1, #places, 2 do add(places[i], places[i + 1]) end
if is[4] then add(everybody, is[4]) end
return out
