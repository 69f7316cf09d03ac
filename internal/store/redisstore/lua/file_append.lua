-- file_append stores the next bytes of a file.
--
-- KEYS  meta:hash files:hash filex:zset chunks:hash
-- ARGV  from file offset:number chunk bytes:number text state complete:flag file_life:number upload_life:number
-- USES  files
-- Returns {"ok", row}, or unknown, memory. What does not begin where the file ends changes nothing.
local lived = number(meta, 'lived')
local raw = redis.call('HGET', files, file)
local row = filed(raw)
if not row or row.f ~= from then return { 'unknown' } end
if row.d or row.o ~= offset or offset + bytes > row.z then return { 'ok', raw } end
if crammed(bytes) then return { 'memory' } end
row.o, row.s = offset + bytes, state
if complete then row.d, row.s = 1, nil end
raw = cjson.encode(row)
redis.call('HSET', chunks, chunk, text)
redis.call('HSET', files, file, raw)
redis.call('ZADD', filex, whole(lived + (complete and file_life or upload_life)), file)
return { 'ok', raw }
