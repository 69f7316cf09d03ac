-- swept notes when a space is swept again. It works when the store is full.
--
-- KEYS  meta
-- ARGV  the lived second of the next sweep
-- Returns {"ok"}.
typed({ 'hash' })
redis.call('HSET', KEYS[1], 'sweep', ARGV[1])
return { 'ok' }
