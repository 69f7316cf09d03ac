-- file_begin makes a place for a file. One that is there is left as it is.
--
-- KEYS  meta:hash sender:hash files:hash filex:zset filebox:hash chunks:hash
-- ARGV  from run file row size:number space_files:number file_life:number upload_life:number
-- USES  files
-- Returns {"ok", row}, or superseded, space, share, memory.
if superseded(sender, run) then return { 'superseded' } end
local lived = number(meta, 'lived')
local raw = redis.call('HGET', files, file)
local known = filed(raw)
if known then
  redis.call('ZADD', filex, whole(lived + (known.d and file_life or upload_life)), file)
  return { 'ok', raw }
end
local holds = redis.call('HMGET', filebox, 'b', 'b:' .. from)
local all, own = amount(holds[1]) + size + FILE_ROW, amount(holds[2]) + size + FILE_ROW
if all > space_files then return { 'space' } end
if own > space_files / 2 then return { 'share' } end
if crammed(size) then return { 'memory' } end
redis.call('UNLINK', chunks)
redis.call('HSET', files, file, row)
redis.call('ZADD', filex, whole(lived + (size == 0 and file_life or upload_life)), file)
redis.call('HSET', filebox, 'b', whole(all), 'b:' .. from, whole(own))
return { 'ok', row }
