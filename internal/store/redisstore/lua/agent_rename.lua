-- agent_rename gives an agent another name. Its record, its mail and its places in
-- lists move; the number of a message stays, the recipient in its id changes.
-- What it costs does not depend on how much mail and how many rooms there are:
-- message_reindex.lua, task_reassign.lua and room_reassign.lua follow, some at a time, and meta has in
-- "moving" that they have to. Threads and tickets keep the ids of before; who
-- reads them looks under the name of today.
--
-- KEYS  meta:hash agents:zset names:zset seen:zset sessions:hash attached:zset events:stream heard:zset retired:zset
--       roles:zset renamed:hash ending:zset expire:zset deadlines:zset dead:zset owed:zset rooms:hash roomorder:zset editors:hash
--       was{agent:hash inbox:zset body:hash fact:hash box:hash mark:hash ended:zset rate:zset joined:hash skips:zset
--       reads:hash} is{agent:hash inbox:zset body:hash fact:hash box:hash mark:hash ended:zset rate:zset joined:hash
--       skips:zset reads:hash} members[]:zset tasks[inbox:zset fact:hash]
-- ARGV  now:clock channel old new run max_events name_life:number its_rooms its_roles max_former:number
--       max_renames:number rename_window:number
-- FLAG  allow-oom
-- USES  edits
-- Members are those of its rooms, tasks the mailboxes of its queues.
-- Returns {"renamed"}, {"unknown"}, {"superseded"}, {"taken"}, {"often", ms until it
-- may be renamed again}, or {"again"} if these are not its rooms and queues.
local function words(text)
  local list = {}
  for w in string.gmatch(text, '%S+') do table.insert(list, w) end
  return list
end
local agent = is.agent
local lived = number(meta, 'lived')

local r = redis.call('HMGET', was.agent, 'seen', 'node', 'session', 'roles', 'was', 'rooms', 'editing', 'renames')
if not r[1] then
  -- The answer to the first try was lost, or the step was repeated on its way.
  local to = string.match(redis.call('HGET', renamed, old) or '', '^(%S+)')
  if to == new and redis.call('EXISTS', agent) == 1 and not superseded(agent, run) then return { 'renamed' } end
  return { 'unknown' }
end
if superseded(was.agent, run) then return { 'superseded' } end
if its_rooms ~= (r[6] or '') or its_roles ~= (r[4] or '') then return { 'again' } end
-- A name that has mail of its own, or still answers for somebody else, is not free.
if redis.call('EXISTS', agent) == 1 or redis.call('HLEN', is.fact) > 0 then return { 'taken' } end
local target, at = string.match(redis.call('HGET', renamed, new) or '', '^(%S+) (%S+)$')
if target and target ~= old and lived - tonumber(at) < name_life then return { 'taken' } end
local since, times = string.match(r[8] or '', '^(%d+) (%d+)$')
since, times = tonumber(since or now), tonumber(times or 0)
if since > now or now - since >= rename_window then since, times = now, 0 end
if times >= max_renames then return { 'often', since + rename_window - now } end
local former = {}
for _, name in ipairs(words(old .. ' ' .. (r[5] or ''))) do
  if #former < max_former then table.insert(former, name) end
end
local rows = redis.call('HMGET', renamed, unpack(former))
local follow = {}
for i, name in ipairs(former) do
  local to, when = string.match(rows[i] or '', '^(%S+) (%S+)$')
  if i > 1 and to == old and name ~= new then
    table.insert(follow, name)
    table.insert(follow, new .. ' ' .. when)
  end
end
local held_tasks = 0
for _, task in ipairs(tasks) do held_tasks = held_tasks + redis.call('ZCARD', task.inbox) end
local moving = redis.call('HGET', meta, 'moving') or ''
local editor = r[7] and editor_of(r[7])
if editor then
  editor.a = new
  editor = cjson.encode(editor)
end

local log = opened()
emit(log, 'renamed', old, '', 'moving', moving .. old .. ' ' .. new .. '\n')
emit(log, 'renamed', new, '')
redis.call('UNLINK', is.reads) -- what somebody of that name had read of rooms is not this agent's
for name, key in pairs(was) do
  if redis.call('EXISTS', key) == 1 then redis.call('RENAME', key, is[name]) end
end
local function moved(list, from, to)
  local score = redis.call('ZSCORE', list, from)
  if not score then return end
  redis.call('ZREM', list, from)
  redis.call('ZADD', list, score, to)
end
for _, list in ipairs({ agents, seen, heard, ending }) do moved(list, old, new) end
-- Tasks that it holds are held by the old name a moment longer, and nobody else's.
if held_tasks > 0 then redis.call('ZADD', seen, whole(now), old) end
local function bare(id) return string.match(id, '([^/]+)$') .. ' ' .. id end
moved(names, bare(old), bare(new))
if r[2] and r[2] ~= '' then moved(attached, r[2] .. ' ' .. old, r[2] .. ' ' .. new) end
for _, role in ipairs(words(its_roles)) do moved(roles, role .. ' ' .. old, role .. ' ' .. new) end
if r[3] and r[3] ~= '' and redis.call('HGET', sessions, r[3]) == old then redis.call('HSET', sessions, r[3], new) end
for _, list in ipairs(members) do moved(list, old, new) end
if editor then redis.call('HSET', editors, r[7], editor) end
redis.call('ZREM', retired, new)
redis.call('HSET', agent, 'was', table.concat(former, ' '), 'renames', whole(since) .. ' ' .. whole(times + 1))
redis.call('HDEL', renamed, new)
redis.call('HSET', renamed, old, new .. ' ' .. whole(lived), unpack(follow))
return { 'renamed' }
