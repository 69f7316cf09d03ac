-- key_find finds the message an idempotency key stands for. It never writes.
--
-- KEYS  meta idem sender renamed
-- ARGV  field from key_life:number
-- FLAG  no-writes
-- USES  keys
-- Returns {"found", recipient, hex, sender then} or {"none"}.
local first = recalled(number(meta, 'lived'))[1]
if not first then return { 'none' } end
return { 'found', first.o, first.h, first.by }
