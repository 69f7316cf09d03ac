-- edit_read reads all leases of a space, also those that have ended, and who holds them.
--
-- KEYS  edits:hash editors:hash
-- ARGV  now:clock
-- FLAG  no-writes
-- Returns {"ok", now, fields and rows, terms and editors}.
return { 'ok', now, redis.call('HGETALL', edits), redis.call('HGETALL', editors) }
