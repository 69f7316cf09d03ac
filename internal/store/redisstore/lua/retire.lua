-- retire forgets the registration of an agent that is not online and of which
-- nothing was heard for long enough. Its mail stays where it is. What it may do
-- in rooms ends: rerooms.lua follows, and meta has in "moving" that it has to.
--
-- KEYS  meta, agent, agents, names, seen, sessions, nodes, attached, events,
--       heard, retired, inbox (the agent's), roles, skips, reads (the
--       agent's), rooms, roomorder
-- ARGV  now, channel, id, silent lived seconds, online window, most events,
--       only if its inbox is empty, lived seconds until its keys are looked at
-- Returns {"retired", the line of "moving" or none}, {"kept"}, {"mail"}, {"rooms"} or {"unknown"}.
typed({ 'hash', 'hash', 'zset', 'zset', 'zset', 'hash', 'hash', 'zset', 'stream', 'zset', 'zset', 'zset', 'zset', 'zset', 'hash', 'hash', 'zset' })
local meta, agent, agents, names, seen, sessions, nodes, attachments, events, heard, retired, inbox =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local now, channel, id, silent, window, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local empty, later = ARGV[7] == '1', tonumber(ARGV[8])

local r = redis.call('HMGET', agent, 'seen', 'node', 'session', 'roles', 'rooms', 'heartbeat')
if not r[1] then return { 'unknown' } end
local lived, node = number(meta, 'lived'), r[2] or ''
if online(agent, nodes, now, window) then
  redis.call('ZADD', heard, whole(lived), id)
  return { 'kept' }
end
-- A node that died took the word of its agents with it: until now they may
-- have been there.
local last = node ~= '' and lived or tonumber(redis.call('ZSCORE', heard, id) or lived)
if lived - last < silent then
  redis.call('ZADD', heard, whole(last), id)
  if node ~= '' then
    redis.call('ZREM', attachments, node .. ' ' .. id)
    redis.call('HDEL', agent, 'node')
    redis.call('ZADD', seen, whole(signed(amount(r[1]), r[6], window)), id)
  end
  return { 'kept' }
end
if empty and redis.call('ZCARD', inbox) > 0 then return { 'mail' } end
if r[5] and r[5] ~= '' then return { 'rooms' } end

local log = opened(meta, events, channel, most_events, now)
-- Only what is older than this is over: whoever has the name next starts anew.
local line = redis.call('ZCARD', KEYS[17]) > 0 and id .. ' @' .. whole(log.seq + 1) or ''
local moving = redis.call('HGET', meta, 'moving') or ''
emit(log, 'retired', id, '')
if line ~= '' then redis.call('HSET', meta, 'moving', moving .. line .. '\n') end
redis.call('DEL', agent)
redis.call('UNLINK', KEYS[14], KEYS[15])
redis.call('ZREM', agents, id)
redis.call('ZREM', names, string.match(id, '([^/]+)$') .. ' ' .. id)
redis.call('ZREM', seen, id)
redis.call('ZREM', heard, id)
if node ~= '' then redis.call('ZREM', attachments, node .. ' ' .. id) end
if r[3] and redis.call('HGET', sessions, r[3]) == id then redis.call('HDEL', sessions, r[3]) end
for role in string.gmatch(r[4] or '', '%S+') do redis.call('ZREM', KEYS[13], role .. ' ' .. id) end
redis.call('HINCRBY', meta, 'agents', -1)
redis.call('ZADD', retired, whole(lived + later), id)
return { 'retired', line }
