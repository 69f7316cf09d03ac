-- rename gives an agent another name. Its record, its mail and its places in
-- lists move; the number of a message stays, the recipient in its id changes.
-- What it costs does not depend on how much mail and how many rooms there are:
-- reindex.lua, reclaim.lua and rerooms.lua follow, some at a time, and meta has in
-- "moving" that they have to. Threads and tickets keep the ids of before; who
-- reads them looks under the name of today.
--
-- KEYS  meta, agents, names, seen, sessions, attached, events, heard, retired,
--       roles, renamed, ending, expire, deadlines, dead, owed, rooms, roomorder,
--       then agent, inbox, body, fact, box, mark, ended, rate, joined,
--       skips, reads of the old name, then those of the new one, then the members
--       of its rooms, then inbox and fact of each of its roles
-- ARGV  now, channel, old, new, run, most events, name life, its rooms, its
--       roles, most former names
-- Returns {"renamed"}, {"unknown"}, {"superseded"}, {"taken"}, or {"again"} if
-- these are not its rooms and roles.
typed({ 'hash', 'zset', 'zset', 'zset', 'hash', 'zset', 'stream', 'zset', 'zset', 'zset', 'hash', 'zset', 'zset', 'zset', 'zset', 'zset',
  'hash', 'zset', 'hash', 'zset', 'hash', 'hash', 'hash', 'hash', 'zset', 'zset', 'hash', 'zset', 'hash',
  'hash', 'zset', 'hash', 'hash', 'hash', 'hash', 'zset', 'zset', 'hash', 'zset', 'hash' })
local meta, agents, names, seen, sessions, attachments, events, heard, retired =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local roles, renamed, ending = KEYS[10], KEYS[11], KEYS[12]
local OLD, NEW, COUNT = 18, 29, 11
local function words(text)
  local list = {}
  for w in string.gmatch(text, '%S+') do table.insert(list, w) end
  return list
end
local its_rooms, its_roles = words(ARGV[8]), words(ARGV[9])
local ROLES = NEW + COUNT + #its_rooms
for i = NEW + COUNT + 1, #KEYS do redis.call(i > ROLES and (i - ROLES) % 2 == 0 and 'HLEN' or 'ZCARD', KEYS[i]) end
local agent, fact = KEYS[NEW + 1], KEYS[NEW + 4]
local now, channel, old, new, run, most_events, name_life = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local lived, most_former = number(meta, 'lived'), tonumber(ARGV[10])

local r = redis.call('HMGET', KEYS[OLD + 1], 'seen', 'node', 'session', 'roles', 'was', 'rooms')
if not r[1] then
  -- The answer to the first try was lost, or the step was repeated on its way.
  local to = string.match(redis.call('HGET', renamed, old) or '', '^(%S+)')
  if to == new and redis.call('EXISTS', agent) == 1 and not superseded(agent, run) then return { 'renamed' } end
  return { 'unknown' }
end
if superseded(KEYS[OLD + 1], run) then return { 'superseded' } end
if ARGV[8] ~= (r[6] or '') or ARGV[9] ~= (r[4] or '') then return { 'again' } end
-- A name that has mail of its own, or still answers for somebody else, is not free.
if redis.call('EXISTS', agent) == 1 or redis.call('HLEN', fact) > 0 then return { 'taken' } end
local target, at = string.match(redis.call('HGET', renamed, new) or '', '^(%S+) (%S+)$')
if target and target ~= old and lived - tonumber(at) < name_life then return { 'taken' } end
local former = {}
for _, name in ipairs(words(old .. ' ' .. (r[5] or ''))) do
  if #former < most_former then table.insert(former, name) end
end
local since = redis.call('HMGET', renamed, unpack(former))
local follow = {}
for i, name in ipairs(former) do
  local to, when = string.match(since[i] or '', '^(%S+) (%S+)$')
  if i > 1 and to == old and name ~= new then
    table.insert(follow, name)
    table.insert(follow, new .. ' ' .. when)
  end
end
local tasks = 0
for i = 1, #its_roles do tasks = tasks + redis.call('ZCARD', KEYS[ROLES + 2 * i - 1]) end
local moving = redis.call('HGET', meta, 'moving') or ''

local log = opened(meta, events, channel, most_events, now)
emit(log, 'renamed', old, '', 'moving', moving .. old .. ' ' .. new .. '\n')
emit(log, 'renamed', new, '')
for i = 1, COUNT do
  if redis.call('EXISTS', KEYS[OLD + i]) == 1 then redis.call('RENAME', KEYS[OLD + i], KEYS[NEW + i]) end
end
local function moved(list, was, is)
  local score = redis.call('ZSCORE', list, was)
  if not score then return end
  redis.call('ZREM', list, was)
  redis.call('ZADD', list, score, is)
end
for _, list in ipairs({ agents, seen, heard, ending }) do moved(list, old, new) end
-- Tasks that it holds are held by the old name a moment longer, and nobody else's.
if tasks > 0 then redis.call('ZADD', seen, whole(now), old) end
local function bare(id) return string.match(id, '([^/]+)$') .. ' ' .. id end
moved(names, bare(old), bare(new))
if r[2] and r[2] ~= '' then moved(attachments, r[2] .. ' ' .. old, r[2] .. ' ' .. new) end
for _, role in ipairs(its_roles) do moved(roles, role .. ' ' .. old, role .. ' ' .. new) end
if r[3] and r[3] ~= '' and redis.call('HGET', sessions, r[3]) == old then redis.call('HSET', sessions, r[3], new) end
for i = NEW + COUNT + 1, ROLES do moved(KEYS[i], old, new) end
redis.call('ZREM', retired, new)
redis.call('HSET', agent, 'was', table.concat(former, ' '))
redis.call('HDEL', renamed, new)
redis.call('HSET', renamed, old, new .. ' ' .. whole(lived), unpack(follow))
return { 'renamed' }
