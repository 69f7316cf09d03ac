-- keyed finds the message an idempotency key stands for. It never writes.
--
-- KEYS  meta, idem
-- ARGV  field
-- Returns {"found", recipient, hex} or {"none"}.
local raw = redis.call('HGET', KEYS[2], ARGV[1])
local first = raw and cjson.decode(raw)
if not first or number(KEYS[1], 'lived') >= first.x then return { 'none' } end
return { 'found', first.o, first.h }
