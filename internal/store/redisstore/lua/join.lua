-- join makes an agent a member of a room, and the room if there is none.
--
-- KEYS  meta, agent, rooms, roomorder, members, invited, joined (the agent's), events
-- ARGV  now, channel, room, agent id, run, visibility of a new room, most rooms
--       of the space, most rooms of an agent, most events, what wakes the member or
--       nothing for as before
-- Returns {"ok", made, already, row, what wakes it}, or one word: superseded,
-- unknown, no_room, many_in_space, many_of_agent.
typed({ 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'hash', 'stream' })
local meta, agent, rooms, order, members, invited, joined, events =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local now, channel, room, id, run, visibility = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local most_rooms, most_of_agent, most_events, notify = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], ARGV[10]

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
elseif redis.call('ZCARD', order) >= most_rooms then
  return { 'many_in_space' }
end
if redis.call('HLEN', joined) >= most_of_agent then return { 'many_of_agent' } end
local names, wakes = redis.call('HGET', agent, 'rooms'), with_notify(agent, room, notify == '' and 'mentions' or notify)

local log = opened(meta, events, channel, most_events, now)
local seq = emit(log, 'joined', id, '')
if not row then
  row = { c = id, v = visibility, a = now, s = seq, m = 0, q = 0, o = 0, n = 0, b = 0 }
  redis.call('ZADD', order, whole(seq), room)
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
