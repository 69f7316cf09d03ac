-- sweep_schedule notes when a space is swept again. It works when the store is full.
--
-- KEYS  meta:hash
-- ARGV  next_sweep
-- FLAG  allow-oom
-- Returns {"ok"}.
redis.call('HSET', meta, 'sweep', next_sweep)
return { 'ok' }
