-- room_join makes an agent a member of a room, and the room if there is none.
--
-- KEYS  meta:hash agent:hash rooms:hash roomorder:zset members:zset invited:zset joined:hash events:stream
-- ARGV  now:clock channel room id run visibility max_rooms:number max_rooms_of_agent:number max_events notify
-- Returns {"ok", made, already, row, what wakes it}, or one word: superseded,
-- unknown, no_room, many_in_space, many_of_agent.
if superseded(agent, run) then return { 'superseded' } end
if redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local raw = redis.call('HGET', rooms, room)
local row = raw and roomed(raw)
if row then
  if redis.call('ZSCORE', members, id) then
    local was = notified(agent, room)
    if notify == '' or notify == was then return { 'ok', 0, 1, raw, was } end
    redis.call('HSET', agent, 'notify', with_notify(agent, room, notify))
    -- No event: only the member's own waits need to look.
    redis.call('SPUBLISH', channel, '0 ' .. id)
    return { 'ok', 0, 1, raw, notify }
  end
  if row.v == 'invite_only' and row.c ~= id and not redis.call('ZSCORE', invited, id) then return { 'no_room' } end
elseif redis.call('ZCARD', roomorder) >= max_rooms then
  return { 'many_in_space' }
end
if redis.call('HLEN', joined) >= max_rooms_of_agent then return { 'many_of_agent' } end
local names, wakes = redis.call('HGET', agent, 'rooms'), with_notify(agent, room, notify == '' and 'mentions' or notify)

local log = opened()
local seq = emit(log, 'joined', id, '')
if not row then
  row = { c = id, v = visibility, a = now, s = seq, m = 0, q = 0, o = 0, n = 0, b = 0 }
  redis.call('ZADD', roomorder, whole(seq), room)
end
row.m, row.e = row.m + 1, nil
local text = cjson.encode(row)
redis.call('HSET', rooms, room, text)
redis.call('ZADD', members, whole(seq), id)
redis.call('ZREM', invited, id)
redis.call('HSET', joined, room, whole(row.q) .. ' ' .. whole(row.o))
redis.call('HSET', agent, 'rooms', (names and names ~= '') and names .. ' ' .. room or room)
if wakes ~= '' then redis.call('HSET', agent, 'notify', wakes) end
return { 'ok', raw and 0 or 1, 0, text, notify == '' and 'mentions' or notify }
