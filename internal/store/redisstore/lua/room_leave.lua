-- room_leave ends a membership. The room stays, also without members; e in its row is
-- then the lived second since when nothing has happened there. It works when the
-- store is full.
--
-- KEYS  meta:hash agent:hash rooms:hash members:zset joined:hash skips:zset reads:hash events:stream
-- ARGV  now:clock channel room id run max_events
-- FLAG  allow-oom
-- Returns {"left"}, {"empty"}, {"none"} or {"superseded"}.
if superseded(agent, run) then return { 'superseded' } end
if not redis.call('ZSCORE', members, id) then return { 'none' } end
local row, lived = roomed(redis.call('HGET', rooms, room)), number(meta, 'lived')
local rest = {}
for name in string.gmatch(redis.call('HGET', agent, 'rooms') or '', '%S+') do
  if name ~= room then table.insert(rest, name) end
end
local forgotten = {}
for _, reader in ipairs(redis.call('HKEYS', reads)) do
  if string.sub(reader, 1, #room + 1) == room .. '\0' then table.insert(forgotten, reader) end
end

local wakes = with_notify(agent, room, 'mentions')

local log = opened()
emit(log, 'left', id, '')
redis.call('ZREM', members, id)
redis.call('HDEL', joined, room)
redis.call('ZREMRANGEBYLEX', skips, '[' .. room .. '\0', '(' .. room .. '\1')
for _, reader in ipairs(forgotten) do redis.call('HDEL', reads, reader) end
if redis.call('EXISTS', agent) == 1 then redis.call('HSET', agent, 'rooms', table.concat(rest, ' '), 'notify', wakes) end
row.m = row.m - 1
if row.m == 0 then row.e = lived end
redis.call('HSET', rooms, room, cjson.encode(row))
return { row.m > 0 and 'left' or 'empty' }
