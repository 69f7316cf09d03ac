-- audit appends an entry.
--
-- KEYS  audit
-- ARGV  entry, most entries
-- Returns {"ok", id}.
typed({ 'stream' })
return { 'ok', redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'e', ARGV[1]) }
