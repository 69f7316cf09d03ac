-- passkey_put stores what is known of a passkey, new or anew, or what passkeys are
-- needed for.
--
-- KEYS  passkeys:hash
-- ARGV  id text
-- Returns {"ok"}.
redis.call('HSET', passkeys, id, text)
return { 'ok' }
