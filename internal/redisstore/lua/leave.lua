-- leave ends a membership, and the room with its last member. It works when
-- the store is full.
--
-- KEYS  meta, agent, rooms, roomorder, members, invited, joined, skips, heard
--       (the agent's), room, events
-- ARGV  now, channel, room, agent id, run, most events
-- Returns {"left"}, {"ended"}, {"none"} or {"superseded"}.
typed({ 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'hash', 'zset', 'hash', 'stream', 'stream' })
local meta, agent, rooms, order, members, invited, joined, skips, heard, posts, events =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local now, channel, room, id, run, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if superseded(agent, run) then return { 'superseded' } end
if not redis.call('ZSCORE', members, id) then return { 'none' } end
local row = roomed(redis.call('HGET', rooms, room))
local rest = {}
for name in string.gmatch(redis.call('HGET', agent, 'rooms') or '', '%S+') do
  if name ~= room then table.insert(rest, name) end
end
local forgotten = {}
for _, reader in ipairs(redis.call('HKEYS', heard)) do
  if string.sub(reader, 1, #room + 1) == room .. '\0' then table.insert(forgotten, reader) end
end

local log = opened(meta, events, channel, most_events, now)
emit(log, 'left', id, '')
redis.call('ZREM', members, id)
redis.call('HDEL', joined, room)
redis.call('ZREMRANGEBYLEX', skips, '[' .. room .. '\0', '(' .. room .. '\1')
for _, reader in ipairs(forgotten) do redis.call('HDEL', heard, reader) end
if redis.call('EXISTS', agent) == 1 then redis.call('HSET', agent, 'rooms', table.concat(rest, ' ')) end
row.m = row.m - 1
if row.m > 0 then
  redis.call('HSET', rooms, room, cjson.encode(row))
  return { 'left' }
end
redis.call('HDEL', rooms, room)
redis.call('ZREM', order, room)
redis.call('UNLINK', members, invited, posts)
return { 'ended' }
