-- proof_put stores an act that waits for a person's signature.
--
-- KEYS  proof:hash
-- ARGV  now:clock act life_ms:number kept_ms:number
-- Returns {"ok", expires}.
local expires = now + life_ms
redis.call('HSET', proof, 'act', act, 'expires', whole(expires), 'signature', '', 'used', '')
redis.call('PEXPIREAT', proof, whole(expires + kept_ms))
return { 'ok', whole(expires) }
