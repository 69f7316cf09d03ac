-- sign writes down by which schema everything here is written, unless a later
-- coordinator did: what that one wrote is there, whoever starts next.
--
-- KEYS  schema
-- ARGV  schema, oldest schema that understands it, version of the coordinator
-- Returns {"ok"}, or {"newer", min_reader, version} if this one does not
-- understand what is here.
local is = redis.call('HMGET', KEYS[1], 'schema', 'min_reader', 'version')
local schema, reader = tonumber(ARGV[1]), tonumber(ARGV[2])
if tonumber(is[2] or 0) > schema then return { 'newer', tonumber(is[2]), is[3] or '' } end
if tonumber(is[1] or 0) >= schema then return { 'ok' } end
redis.call('HSET', KEYS[1], 'schema', schema, 'min_reader', math.max(reader, tonumber(is[2] or 0)), 'version', ARGV[3])
return { 'ok' }
