-- keyed finds the message an idempotency key stands for. It never writes.
--
-- KEYS  meta, idem, sender, renamed
-- ARGV  field, from, key life
-- Returns {"found", recipient, hex, sender then} or {"none"}.
local first = recalled({ idem = KEYS[2], sender = KEYS[3], renamed = KEYS[4] }, ARGV[2], ARGV[1], number(KEYS[1], 'lived'), tonumber(ARGV[3]))[1]
if not first then return { 'none' } end
return { 'found', first.o, first.h, first.by }
