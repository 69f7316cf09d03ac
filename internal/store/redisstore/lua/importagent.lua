-- importagent makes an agent that comes from another coordinator known. One that
-- is here already stays as it is. It is offline until its next run.
--
-- KEYS  meta, agent, agents, names, seen, heard, retired, roles, renamed, imported,
--       events, then the agents that have its former names, if any has
-- ARGV  now, channel, id, origin, most events, name life, registered, seen,
--       number of fields, the fields and their values, former names
-- Returns {"imported"} or {"already"}.
typed({ 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'zset', 'zset', 'hash', 'hash', 'stream' })
local meta, agent, agents, names, seen, heard, retired, roles, renamed, imported, events =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local FIXED, FIELDS = 11, 9
local now, channel, id, origin, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local name_life, registered, last, count = tonumber(ARGV[6]), ARGV[7], ARGV[8], tonumber(ARGV[9])
local names_at = FIELDS + count * 2
for i = FIXED + 1, #KEYS do redis.call('HLEN', KEYS[i]) end
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
local lived, known = number(meta, 'lived'), redis.call('EXISTS', agent) == 1

if not known then emit(opened(meta, events, channel, most_events, now), 'registered', id, '') end
redis.call('HSET', imported, origin, id)
redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
-- For ids of mail a former name stands as long as the space. As an address, or
-- for somebody who registers, it does not: here it may be another's.
for i = names_at + 1, #ARGV do
  if redis.call('EXISTS', KEYS[FIXED + i - names_at]) == 0 then redis.call('HSETNX', renamed, ARGV[i], id .. ' ' .. whole(lived - name_life)) end
end
if known then return { 'already' } end
local registration = redis.call('HINCRBY', meta, 'registrations', 1)
redis.call('HINCRBY', meta, 'agents', 1)
redis.call('HSETNX', meta, 'schema', 1)
redis.call('HSETNX', meta, 'min_reader', 1)
redis.call('ZADD', agents, registration, id)
redis.call('ZADD', names, 0, string.match(id, '([^/]+)$') .. ' ' .. id)
redis.call('HSET', agent, 'registered', registered, 'order', registration, 'epoch', 1, 'seen', last, 'gone', last,
  'cast', whole(number(meta, 'seq')) .. ' ' .. whole(number(meta, 'casts')), 'was', table.concat(ARGV, ' ', names_at + 1))
for i = 1, count do redis.call('HSET', agent, ARGV[FIELDS + i * 2 - 1], ARGV[FIELDS + i * 2]) end
redis.call('ZADD', seen, 0, id)
redis.call('ZADD', heard, whole(lived), id)
redis.call('ZREM', retired, id)
for role in string.gmatch(redis.call('HGET', agent, 'roles') or '', '%S+') do
  redis.call('ZADD', roles, 0, role .. ' ', 0, role .. ' ' .. id)
end
return { 'imported' }
