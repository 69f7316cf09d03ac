-- proof_sign adds the signature that an act waits for. The first one counts.
--
-- KEYS  proof:hash
-- ARGV  now:clock signature
-- FLAG  allow-oom
-- Returns {outcome}: ok, unknown, expired, signed or used.
local is = redis.call('HMGET', proof, 'expires', 'signature', 'used')
if not is[1] then return { 'unknown' } end
if is[3] ~= '' then return { 'used' } end
if is[2] == signature then return { 'ok' } end
if is[2] ~= '' then return { 'signed' } end
if tonumber(is[1]) <= now then return { 'expired' } end
redis.call('HSET', proof, 'signature', signature)
return { 'ok' }
