-- authority stores what is proposed unless something is there, and gives what
-- is there: the first writer wins.
--
-- KEYS  ca
-- ARGV  proposal (empty only reads)
-- Returns {"ok", authority}.
typed({ 'string' })
if ARGV[1] ~= '' then redis.call('SET', KEYS[1], ARGV[1], 'NX') end
return { 'ok', redis.call('GET', KEYS[1]) or '' }
