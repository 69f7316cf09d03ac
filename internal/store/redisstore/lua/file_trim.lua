-- file_trim forgets a file that no message carries any more, once its time is over or at once.
--
-- KEYS  meta:hash files:hash filex:zset filebox:hash chunks:hash
-- ARGV  file at_once:flag file_life:number gone[]
-- FLAG  allow-oom
-- USES  files
-- Gone are those of its messages that no longer count.
-- Returns {"forgotten"} or {"left"}.
local lived = number(meta, 'lived')
local due = redis.call('ZSCORE', filex, file)
if not at_once and (not due or tonumber(due) > lived) then return { 'left' } end
local row = filed(redis.call('HGET', files, file))
if row then
  local over, left = set_of(gone), {}
  for id in string.gmatch(row.h, '%S+') do
    if not over[id] then table.insert(left, id) end
  end
  if #left > 0 then
    row.h = table.concat(left, ' ')
    redis.call('HSET', files, file, cjson.encode(row))
    redis.call('ZADD', filex, whole(lived + file_life), file)
    return { 'left' }
  end
  local whose = 'b:' .. row.f
  local holds = redis.call('HMGET', filebox, 'b', whose)
  local all, own = amount(holds[1]) - row.z - FILE_ROW, amount(holds[2]) - row.z - FILE_ROW
  if all > 0 then redis.call('HSET', filebox, 'b', whole(all)) end
  if own > 0 then redis.call('HSET', filebox, whose, whole(own)) end
  if all <= 0 then
    redis.call('UNLINK', filebox)
  elseif own <= 0 then
    redis.call('HDEL', filebox, whose)
  end
end
redis.call('ZREM', filex, file)
redis.call('UNLINK', chunks)
redis.call('HDEL', files, file)
return { 'forgotten' }
