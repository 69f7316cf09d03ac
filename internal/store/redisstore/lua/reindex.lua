-- reindex follows a renaming where the space lists messages by their ids, for some
-- of them. It may be repeated.
--
-- KEYS  meta, expire, deadlines, dead, owed, seen, agent of the old name, inbox of
--       the new one
-- ARGV  old, new, the line of "moving" in meta that this ends, or none, then the ids
--       by the old name
-- Returns {"ok"}.
typed({ 'hash', 'zset', 'zset', 'zset', 'zset', 'zset', 'hash', 'zset' })
local meta, expire, deadlines, dead, owed, seen, inbox = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[8]
local old, new, line = ARGV[1], ARGV[2], ARGV[3]
local function moved(list, was, is)
  local score = redis.call('ZSCORE', list, was)
  if not score then return nil end
  redis.call('ZREM', list, was)
  redis.call('ZADD', list, score, is)
  return score
end
for i = 4, #ARGV do
  local was = ARGV[i]
  local from, hex = string.match(was, '^(.-)::.*::(%x+)$')
  local is = from .. '::' .. new .. '::' .. hex
  -- What was read since the renaming has no life left that could end.
  if redis.call('ZSCORE', inbox, hex) then moved(expire, was, is) else redis.call('ZREM', expire, was) end
  moved(deadlines, was, is)
  local died = moved(dead, was, is)
  if died then moved(owed, owing(old, died, was), owing(new, died, is)) end
end
if line ~= '' then
  local rest = {}
  for one in string.gmatch(redis.call('HGET', meta, 'moving') or '', '[^\n]+') do
    if one ~= line then table.insert(rest, one .. '\n') end
  end
  if #rest > 0 then redis.call('HSET', meta, 'moving', table.concat(rest)) else redis.call('HDEL', meta, 'moving') end
  if redis.call('EXISTS', KEYS[7]) == 0 then redis.call('ZREM', seen, old) end
end
return { 'ok' }
