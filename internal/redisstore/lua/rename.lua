-- rename gives an agent another name. Its record, its mail and its places in
-- all lists move; the number of a message stays, the recipient in its id changes.
--
-- KEYS  meta, agents, names, seen, sessions, attached, events, heard, retired,
--       roles, renamed, ending, expire, threads, tickets, deadlines, dead, owed,
--       rooms, then agent, inbox, body, fact, box, mark, ended, rate, joined,
--       skips, reads of the old name, then those of the new one, then the members
--       of its rooms, then inbox and fact of each of its roles
-- ARGV  now, channel, old, new, run, most events, name life, its
--       rooms, its roles
-- Returns {"renamed"}, {"unknown"}, {"superseded"}, {"taken"}, or {"again"} if
-- these are not its rooms and roles.
typed({ 'hash', 'zset', 'zset', 'zset', 'hash', 'zset', 'stream', 'zset', 'zset', 'zset', 'hash', 'zset', 'zset', 'zset', 'zset', 'zset',
  'zset', 'zset', 'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'hash', 'zset', 'zset', 'hash', 'zset', 'hash',
  'hash', 'zset', 'hash', 'hash', 'hash', 'hash', 'zset', 'zset', 'hash', 'zset', 'hash' })
local meta, agents, names, seen, sessions, attachments, events, heard, retired =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local roles, renamed, ending, expire, threads, tickets, deadlines, dead, owed =
  KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18]
local rooms, OLD, NEW, COUNT = KEYS[19], 19, 30, 11
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
local lived = number(meta, 'lived')

local r = redis.call('HMGET', KEYS[OLD + 1], 'seen', 'node', 'session', 'roles', 'was', 'rooms')
if not r[1] then return { 'unknown' } end
if superseded(KEYS[OLD + 1], run) then return { 'superseded' } end
if ARGV[8] ~= (r[6] or '') or ARGV[9] ~= (r[4] or '') then return { 'again' } end
-- A name that has mail of its own, or still answers for somebody else, is not free.
if redis.call('EXISTS', agent) == 1 or redis.call('HLEN', fact) > 0 then return { 'taken' } end
local target, at = string.match(redis.call('HGET', renamed, new) or '', '^(%S+) (%S+)$')
if target and target ~= old and lived - tonumber(at) < name_life then return { 'taken' } end

local log = opened(meta, events, channel, most_events, now)
emit(log, 'renamed', old, '')
emit(log, 'renamed', new, '')
for i = 1, COUNT do
  if redis.call('EXISTS', KEYS[OLD + i]) == 1 then redis.call('RENAME', KEYS[OLD + i], KEYS[NEW + i]) end
end
local function moved(list, was, is)
  local score = redis.call('ZSCORE', list, was)
  if not score then return nil end
  redis.call('ZREM', list, was)
  redis.call('ZADD', list, score, is)
  return score
end
local all = redis.call('HGETALL', fact)
for i = 1, #all, 2 do
  local hex, f = all[i], legible(all[i + 1]) or { f = '', t = '', q = 0 }
  local was, is = f.f .. '::' .. old .. '::' .. hex, f.f .. '::' .. new .. '::' .. hex
  for _, list in ipairs({ expire, tickets, deadlines }) do moved(list, was, is) end
  moved(threads, threaded(f.t, f.q, was), threaded(f.t, f.q, is))
  local died = moved(dead, was, is)
  if died then moved(owed, owing(old, died, was), owing(new, died, is)) end
  if f.an then
    -- The answers were given under the old name, and have it in their ids.
    for _, answer in ipairs(f.an) do answer.f = answer.f or old end
    redis.call('HSET', fact, hex, cjson.encode(f))
  end
end
for _, list in ipairs({ agents, seen, heard, ending }) do moved(list, old, new) end
local function bare(id) return string.match(id, '([^/]+)$') .. ' ' .. id end
moved(names, bare(old), bare(new))
if r[2] and r[2] ~= '' then moved(attachments, r[2] .. ' ' .. old, r[2] .. ' ' .. new) end
for i, role in ipairs(its_roles) do
  moved(roles, role .. ' ' .. old, role .. ' ' .. new)
  local inbox, facts = KEYS[ROLES + 2 * i - 1], KEYS[ROLES + 2 * i]
  for _, hex in ipairs(redis.call('ZRANGE', inbox, 0, -1)) do
    local task = legible(redis.call('HGET', facts, hex))
    if task and task.cl and task.cl.b == old then
      task.cl.b = new
      redis.call('HSET', facts, hex, cjson.encode(task))
    end
  end
end
if r[3] and r[3] ~= '' and redis.call('HGET', sessions, r[3]) == old then redis.call('HSET', sessions, r[3], new) end
for i, room in ipairs(its_rooms) do
  moved(KEYS[NEW + COUNT + i], old, new)
  local row = cjson.decode(redis.call('HGET', rooms, room) or '{}')
  if row.c == old then
    row.c = new
    redis.call('HSET', rooms, room, cjson.encode(row))
  end
end
redis.call('ZREM', retired, new)
redis.call('HSET', agent, 'was', r[5] and r[5] ~= '' and (old .. ' ' .. r[5]) or old)
local before = redis.call('HGETALL', renamed)
for i = 1, #before, 2 do
  local to, since = string.match(before[i + 1], '^(%S+) (%S+)$')
  if to == old then redis.call('HSET', renamed, before[i], new .. ' ' .. since) end
end
redis.call('HSET', renamed, old, new .. ' ' .. whole(lived))
redis.call('HDEL', renamed, new)
return { 'renamed' }
