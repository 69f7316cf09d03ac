-- message_reindex follows a renaming where the space lists messages by their ids, for some
-- of them. It may be repeated.
--
-- KEYS  meta:hash expire:zset deadlines:zset dead:zset owed:zset seen:zset agent:hash inbox:zset
-- ARGV  old new line ids[]
-- FLAG  allow-oom
-- The agent is the old name's, the inbox the new one's. Line is that of "moving" in
-- meta that this ends, or none; the ids are by the old name.
-- Returns {"ok"}.
local function moved(list, was, is)
  local score = redis.call('ZSCORE', list, was)
  if not score then return nil end
  redis.call('ZREM', list, was)
  redis.call('ZADD', list, score, is)
  return score
end
for _, was in ipairs(ids) do
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
  if redis.call('EXISTS', agent) == 0 then redis.call('ZREM', seen, old) end
end
return { 'ok' }
