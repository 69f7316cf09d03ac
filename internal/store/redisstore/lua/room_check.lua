-- room_check says how far an agent has come in its rooms, and how much is left.
-- It never writes, and costs the same whatever was said.
--
-- KEYS  meta agent rooms joined skips reads
-- ARGV  now:clock run reader everybody after:number
-- FLAG  no-writes
-- Returns {"ok", seq, lived, now, after, type, capabilities, host, {room, cursor, last
-- sequence, unread, heard, what wakes it} …} or {"superseded"}.
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
  table.insert(out, { room, seq, row.q, unread, redis.call('HGET', reads, room .. '\0' .. reader) or '', notified(agent, room) })
end

local places = redis.call('HGETALL', joined)
for i = 1, #places, 2 do add(places[i], places[i + 1]) end
if is[4] then add(everybody, is[4]) end
return out
