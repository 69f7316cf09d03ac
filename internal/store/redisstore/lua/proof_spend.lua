-- proof_spend uses a proof up: once, before its end. From then on it is kept as long as
-- what it proves is asked about.
--
-- KEYS  proof:hash
-- ARGV  now:clock attempt kept_ms:number
-- FLAG  allow-oom
-- Returns {outcome}: ok, unknown, expired or used.
local is = redis.call('HMGET', proof, 'expires', 'used')
if not is[1] then return { 'unknown' } end
if is[2] == attempt then return { 'ok' } end
if is[2] ~= '' then return { 'used' } end
if tonumber(is[1]) <= now then return { 'expired' } end
redis.call('HSET', proof, 'used', attempt)
redis.call('PEXPIREAT', proof, whole(now + kept_ms))
return { 'ok' }
