-- schema_record writes down by which schema everything here is written, unless a later
-- coordinator did: what that one wrote is there, whoever starts next.
--
-- KEYS  schema
-- ARGV  of:number reader:number version
-- FLAG  allow-oom
-- Of is the schema, reader the oldest that understands it.
-- Returns {"ok"}, or {"newer", min_reader, version} if this one does not
-- understand what is here.
local is = redis.call('HMGET', schema, 'schema', 'min_reader', 'version')
if tonumber(is[2] or 0) > of then return { 'newer', tonumber(is[2]), is[3] or '' } end
if tonumber(is[1] or 0) >= of then return { 'ok' } end
redis.call('HSET', schema, 'schema', of, 'min_reader', math.max(reader, tonumber(is[2] or 0)), 'version', version)
return { 'ok' }
