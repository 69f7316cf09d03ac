-- room_end forgets a room without members, its history and its invitations. It
-- works when the store is full.
--
-- KEYS  meta:hash agent:hash rooms:hash roomorder:zset members:zset invited:zset room_log:stream events:stream
-- ARGV  now:clock channel room id run outside max_events silent:number
-- FLAG  allow-oom
-- With silent, a number of lived seconds, only a room that was empty and silent for so long.
-- Returns {"ended"}, {"members"}, {"kept"}, {"not_creator", creator}, or one word:
-- superseded, no_room.
if superseded(agent, run) then return { 'superseded' } end
local row, refusal = created(rooms, room, members, id, outside)
if not row then return refusal end
if row.m > 0 then return { 'members' } end
if silent > 0 and not (countable(row.e) and number(meta, 'lived') - row.e >= silent) then return { 'kept' } end

emit(opened(), 'room_ended', '', '')
redis.call('HDEL', rooms, room)
redis.call('ZREM', roomorder, room)
redis.call('UNLINK', members, invited, room_log)
return { 'ended' }
