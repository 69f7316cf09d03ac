-- endroom forgets a room without members, its history and its invitations. It
-- works when the store is full.
--
-- KEYS  meta, agent, rooms, roomorder, members, invited, room, events
-- ARGV  now, channel, room, id, run, outside, most events, lived seconds for which
--       it must have been empty and silent; 0 for none
-- Returns {"ended"}, {"members"}, {"kept"}, {"not_creator", creator}, or one word:
-- superseded, no_room.
typed({ 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'stream', 'stream' })
local meta, agent, rooms, order, members, invited, posts, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local now, channel, room, id, run, outside = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local most_events, silent = ARGV[7], tonumber(ARGV[8])

if superseded(agent, run) then return { 'superseded' } end
local row, refusal = created(rooms, room, members, id, outside)
if not row then return refusal end
if row.m > 0 then return { 'members' } end
if silent > 0 and not (countable(row.e) and number(meta, 'lived') - row.e >= silent) then return { 'kept' } end

emit(opened(meta, events, channel, most_events, now), 'room_ended', '', '')
redis.call('HDEL', rooms, room)
redis.call('ZREM', order, room)
redis.call('UNLINK', members, invited, posts)
return { 'ended' }
