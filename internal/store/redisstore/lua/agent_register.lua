-- agent_register gives a caller an id; the rules stand at store.Store.Register.
--
-- KEYS  meta:hash agents:zset names:zset seen:zset sessions:hash nodes:hash attached:zset events:stream heard:zset
--       retired:zset owed:zset roles:zset renamed editors:hash candidates[agent:hash inbox:zset]
-- ARGV  now:clock channel run sighted:flag session epoch:number explicit:flag online_window:number max_events client all:number
--       full_store:flag whatever:flag fields[field value] candidates[id]
-- USES  edits
-- The candidates are some of all possible ones, in order; fields are what the profile
-- says; whatever: it does not matter that the first was renamed.
-- Returns {"ok", id, now, unread, card, owed letters}, {"superseded"}, or
-- {"taken"} if no candidate given was free, or {"renamed"} if the first is
-- what an agent was called before, or {"full"} if it would be a new agent.
--
-- In a full store it still lets in whoever is registered: their mail must be
-- readable, and acking it makes room. What that adds is bounded, since it takes
-- the place of what the agent said before.
local was_called = redis.call('HGET', renamed, candidates[1].id)

local function key(i) return candidates[i].agent end
local function id(i) return candidates[i].id end
local function known(i) return redis.call('EXISTS', key(i)) == 1 end
local function free(i)
  if not known(i) then return true end
  return (redis.call('HGET', key(i), 'run') or '') == '' or not online(key(i), nodes, now, online_window)
end

-- The runs that held the id before, the latest first, one a line.
local MOST_OUSTED = 16
local function ousted(list, who) return list and string.find('\n' .. list .. '\n', '\n' .. who .. '\n', 1, true) end
local function with_ousted(list, who)
  local kept, count = who, 1
  for line in string.gmatch(list or '', '[^\n]+') do
    if line ~= who and count < MOST_OUSTED then kept, count = kept .. '\n' .. line, count + 1 end
  end
  return kept
end

if was_called and not whatever and not known(1) then return { 'renamed' } end

-- A few candidates are the common case. If the last of them is in use, higher
-- numbers may be too, and the caller asks again with all of them.
if #candidates < all and known(#candidates) then return { 'taken' } end

local chosen
if run == '' then
  chosen = 1
else
  for i = 1, #candidates do
    if redis.call('HGET', key(i), 'run') == run then
      chosen = i
      break
    end
  end
  if not chosen and not explicit then
    local holder = redis.call('HMGET', key(1), 'run', 'epoch', 'ousted')
    local other = holder[1] and holder[1] ~= '' and holder[1] ~= run
    if ousted(holder[3], run) or (epoch > 0 and other and epoch < tonumber(holder[2] or 0)) then return { 'superseded' } end
  end
  if not chosen and session ~= '' then
    local former = redis.call('HGET', sessions, session)
    for i = 1, #candidates do
      if former == id(i) and free(i) then
        chosen = i
        break
      end
    end
  end
  if not chosen then
    for i = 1, #candidates do
      if free(i) then
        chosen = i
        break
      end
    end
  end
end
if not chosen then return { 'taken' } end

local agent, name = key(chosen), id(chosen)
local existed = known(chosen)
if full_store and not existed then return { 'full' } end
local holds = redis.call('HGET', agent, 'run') or ''
local node = redis.call('HGET', agent, 'node') or ''
local lived, epoch_before = number(meta, 'lived'), amount(redis.call('HGET', agent, 'epoch'))
local changed = not existed or (run ~= '' and holds ~= run)
if changed then
  local log = opened()
  emit(log, 'registered', name, '')
end
if not existed then
  local registration = redis.call('HINCRBY', meta, 'registrations', 1)
  redis.call('HINCRBY', meta, 'agents', 1)
  redis.call('HSETNX', meta, 'schema', 1)
  redis.call('HSETNX', meta, 'min_reader', 1)
  redis.call('ZADD', agents, registration, name)
  redis.call('ZADD', names, 0, string.match(name, '([^/]+)$') .. ' ' .. name)
  redis.call('HSET', agent, 'registered', whole(now), 'order', registration, 'epoch', 1,
    'cast', whole(number(meta, 'seq')) .. ' ' .. whole(number(meta, 'casts')))
  if run ~= '' then redis.call('HSET', agent, 'run', run) end
elseif changed then
  stops_editing(agent)
  redis.call('HSET', agent, 'epoch', whole(epoch_before + 1))
  redis.call('HSET', agent, 'run', run)
  -- The process, and what was said of its work, were the run's before.
  redis.call('HDEL', agent, 'pid', 'pid_start', 'heartbeat', 'availability', 'task', 'quota_until', 'quota')
  if holds ~= '' then redis.call('HSET', agent, 'ousted', with_ousted(redis.call('HGET', agent, 'ousted'), holds)) end
end
if sighted and run ~= '' then redis.call('HSET', agent, 'sighted', run) end
-- Of a closed session its host is attached, until the agent is heard of again.
if node ~= '' and (changed or not is_attached(node, nodes, now) or redis.call('HEXISTS', agent, 'gone') == 1) then
  redis.call('ZREM', attached, node .. ' ' .. name)
  redis.call('HDEL', agent, 'node')
  node = ''
end
redis.call('HDEL', agent, 'gone')
local declares = false
for _, is in ipairs(fields) do declares = declares or is.field == 'pid' end
if run ~= '' or explicit and declares then redis.call('HDEL', agent, 'died') end
redis.call('HSET', agent, 'seen', whole(now), 'client', client)
redis.call('ZADD', heard, whole(lived), name)
redis.call('ZREM', retired, name)
if run ~= '' then
  local was = redis.call('HGET', agent, 'session') or ''
  if was ~= session then
    if was ~= '' and redis.call('HGET', sessions, was) == name then redis.call('HDEL', sessions, was) end
    redis.call('HSET', agent, 'session', session)
  end
  if session ~= '' then redis.call('HSET', sessions, session, name) end
end
if explicit or not existed then
  for role in string.gmatch(redis.call('HGET', agent, 'roles') or '', '%S+') do redis.call('ZREM', roles, role .. ' ' .. name) end
  for _, is in ipairs(fields) do redis.call('HSET', agent, is.field, is.value) end
  for role in string.gmatch(redis.call('HGET', agent, 'roles') or '', '%S+') do
    -- The entry without an id stays: the queue may have mail when its members left.
    redis.call('ZADD', roles, 0, role .. ' ', 0, role .. ' ' .. name)
  end
end
redis.call('ZADD', seen, node == '' and whole(signed(now, redis.call('HGET', agent, 'heartbeat'), online_window)) or 'inf', name)
return { 'ok', name, now, redis.call('ZCARD', candidates[chosen].inbox), card(agent, nodes, meta, now, online_window),
  redis.call('ZLEXCOUNT', owed, '[' .. name .. '\0', '(' .. name .. '\1') }
