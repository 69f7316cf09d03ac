-- trim forgets ended messages of one owner, oldest first: those past their
-- life, and while the space holds too many bytes, those older than the oldest
-- of any other owner. When Redis is full, its memory sets how many are too many.
--
-- KEYS  meta, body, fact, ended (the owner's), ending, threads, tickets
-- ARGV  owner, limit, ended bytes, bound (number of the next owner's oldest, or
--       "inf"), per cent of its memory that Redis may use (0: as much as it can)
-- Returns {"ok", forgotten, the lived second at which the life of the first one left ends; 0 if unknown}.
typed({ 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset' })
local k = { body = KEYS[2], fact = KEYS[3], ended = KEYS[4], ending = KEYS[5], threads = KEYS[6], tickets = KEYS[7] }
local owner, limit, budget = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local bound = ARGV[4] == 'inf' and math.huge or tonumber(ARGV[4])
local lived, held, forgotten, ends = number(KEYS[1], 'lived'), number(KEYS[1], 'ended_bytes'), 0, 0
if ARGV[5] ~= '0' then
  -- What scripts left behind counts as used and needs no mail to go. Who may not
  -- ask how much is used makes no room.
  collectgarbage()
  local said = redis.pcall('INFO', 'memory')
  said = type(said) == 'string' and said or ''
  local used, most = amount(string.match(said, '\nused_memory:(%d+)')), amount(string.match(said, '\nmaxmemory:(%d+)'))
  if most > 0 then budget = math.min(budget, held - math.max(0, used - most * ARGV[5] / 100)) end
end
local rows = redis.call('ZRANGE', k.ended, 0, limit - 1, 'WITHSCORES')
for i = 1, #rows, 2 do
  local hex, seq = rows[i], tonumber(rows[i + 1])
  local fact = editable(redis.call('HGET', k.fact, hex))
  if fact and (fact.l or 0) > lived and (held <= budget or seq > bound) then
    ends = fact.l
    break
  end
  local freed = forget(k, hex, fact)
  redis.call('ZREM', k.ended, hex)
  held = redis.call('HINCRBY', KEYS[1], 'ended_bytes', 0 - freed) -- number has looked at it
  forgotten = forgotten + 1
end
settle(k, owner)
return { 'ok', forgotten, ends }
