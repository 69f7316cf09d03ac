-- agent_retire forgets the registration of an agent that is not online and of which
-- nothing was heard for long enough. Its mail stays where it is. What it may do
-- in rooms ends: room_reassign.lua follows, and meta has in "moving" that it has to.
--
-- KEYS  meta:hash agent:hash agents:zset names:zset seen:zset sessions:hash nodes:hash attached:zset events:stream
--       heard:zset retired:zset inbox:zset roles:zset skips:zset reads:hash rooms:hash roomorder:zset editors:hash
-- ARGV  now:clock channel id silent:number online_window:number max_events empty:flag later:number
-- FLAG  allow-oom
-- USES  edits
-- Returns {"retired", the line of "moving" or none}, {"kept"}, {"mail"}, {"rooms"} or {"unknown"}.
local r = redis.call('HMGET', agent, 'seen', 'node', 'session', 'roles', 'rooms', 'heartbeat')
if not r[1] then return { 'unknown' } end
local lived, node = number(meta, 'lived'), r[2] or ''
-- The host of a closed session is attached in its place.
if online(agent, nodes, now, online_window) or is_attached(node, nodes, now) then
  redis.call('ZADD', heard, whole(lived), id)
  return { 'kept' }
end
-- A node that died took the word of its agents with it: until now they may
-- have been there.
local last = node ~= '' and lived or tonumber(redis.call('ZSCORE', heard, id) or lived)
if lived - last < silent then
  redis.call('ZADD', heard, whole(last), id)
  if node ~= '' then
    redis.call('ZREM', attached, node .. ' ' .. id)
    redis.call('HDEL', agent, 'node')
    local gone = redis.call('HEXISTS', agent, 'gone') == 1
    redis.call('ZADD', seen, gone and 0 or whole(signed(amount(r[1]), r[6], online_window)), id)
  end
  return { 'kept' }
end
if empty and redis.call('ZCARD', inbox) > 0 then return { 'mail' } end
if r[5] and r[5] ~= '' then return { 'rooms' } end

local log = opened()
-- Only what is older than this is over: whoever has the name next starts anew.
local line = redis.call('ZCARD', roomorder) > 0 and id .. ' @' .. whole(log.seq + 1) or ''
local moving = redis.call('HGET', meta, 'moving') or ''
emit(log, 'retired', id, '')
if line ~= '' then redis.call('HSET', meta, 'moving', moving .. line .. '\n') end
stops_editing(agent)
redis.call('DEL', agent)
redis.call('UNLINK', skips, reads)
redis.call('ZREM', agents, id)
redis.call('ZREM', names, string.match(id, '([^/]+)$') .. ' ' .. id)
redis.call('ZREM', seen, id)
redis.call('ZREM', heard, id)
if node ~= '' then redis.call('ZREM', attached, node .. ' ' .. id) end
if r[3] and redis.call('HGET', sessions, r[3]) == id then redis.call('HDEL', sessions, r[3]) end
for role in string.gmatch(r[4] or '', '%S+') do redis.call('ZREM', roles, role .. ' ' .. id) end
redis.call('HINCRBY', meta, 'agents', -1)
redis.call('ZADD', retired, whole(lived + later), id)
return { 'retired', line }
