-- record_claim fills an empty field of a record once, before its end and before its use.
--
-- KEYS  record:hash
-- ARGV  now:clock field value kept_ms:number
-- FLAG  allow-oom
-- With kept_ms the record is kept for so long from now.
-- Returns {outcome}: ok, unknown, expired, used, or signed if a field other than used is filled.
local is = redis.call('HMGET', record, 'expires', field, 'used')
if not is[1] then return { 'unknown' } end
if field ~= 'used' and is[3] ~= '' then return { 'used' } end
if is[2] == value then return { 'ok' } end
if is[2] ~= '' then return { field == 'used' and 'used' or 'signed' } end
if tonumber(is[1]) <= now then return { 'expired' } end
redis.call('HSET', record, field, value)
if kept_ms > 0 then redis.call('PEXPIREAT', record, whole(now + kept_ms)) end
return { 'ok' }
