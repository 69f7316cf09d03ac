-- room_invite lets an agent into a room.
--
-- KEYS  meta:hash agent:hash rooms:hash members:zset invited:zset guest:hash
-- ARGV  room id run outside guest_id
-- Returns {"invited", seq when it was}, {"already", the same}, {"member"}, or one
-- word: superseded, no_room, not_member, unknown.
if superseded(agent, run) then return { 'superseded' } end
local raw = redis.call('HGET', rooms, room)
if not raw then return { 'no_room' } end
if outside ~= '1' and not redis.call('ZSCORE', members, id) then
  return { cjson.decode(raw).v == 'invite_only' and 'no_room' or 'not_member' }
end
if redis.call('EXISTS', guest) == 0 then return { 'unknown' } end
if redis.call('ZSCORE', members, guest_id) then return { 'member' } end
local at = redis.call('ZSCORE', invited, guest_id)
if at then return { 'already', whole(tonumber(at)) } end
at = whole(number(meta, 'seq'))
redis.call('ZADD', invited, at, guest_id)
return { 'invited', at }
