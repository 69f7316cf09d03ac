-- agent_import makes an agent that comes from another coordinator known. One that
-- is here already stays as it is. It is offline until its next run.
--
-- KEYS  meta:hash agent:hash agents:zset names:zset seen:zset heard:zset retired:zset roles:zset renamed:hash
--       imported:hash events:stream former[holder:hash]
-- ARGV  now:clock channel id origin max_events name_life:number registered last fields[field value] former[name]
-- A holder is the agent that has a former name, if any has.
-- Returns {"imported"} or {"already"}.
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
local lived, known = number(meta, 'lived'), redis.call('EXISTS', agent) == 1

if not known then emit(opened(), 'registered', id, '') end
redis.call('HSET', imported, origin, id)
redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
-- For ids of mail a former name stands as long as the space. As an address, or
-- for somebody who registers, it does not: here it may be another's.
local was = {}
for i, is in ipairs(former) do
  was[i] = is.name
  if redis.call('EXISTS', is.holder) == 0 then redis.call('HSETNX', renamed, is.name, id .. ' ' .. whole(lived - name_life)) end
end
if known then return { 'already' } end
local registration = redis.call('HINCRBY', meta, 'registrations', 1)
redis.call('HINCRBY', meta, 'agents', 1)
redis.call('HSETNX', meta, 'schema', 1)
redis.call('HSETNX', meta, 'min_reader', 1)
redis.call('ZADD', agents, registration, id)
redis.call('ZADD', names, 0, string.match(id, '([^/]+)$') .. ' ' .. id)
redis.call('HSET', agent, 'registered', registered, 'order', registration, 'epoch', 1, 'seen', last, 'gone', last,
  'cast', whole(number(meta, 'seq')) .. ' ' .. whole(number(meta, 'casts')), 'was', table.concat(was, ' '))
for _, is in ipairs(fields) do redis.call('HSET', agent, is.field, is.value) end
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', heard, whole(lived), id)
redis.call('ZREM', retired, id)
for role in string.gmatch(redis.call('HGET', agent, 'roles') or '', '%S+') do
  redis.call('ZADD', roles, 0, role .. ' ', 0, role .. ' ' .. id)
end
return { 'imported' }
