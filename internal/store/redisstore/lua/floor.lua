-- floor raises the number above which spaces begin, so that one that is used
-- again after it was forgotten gives no number twice.
--
-- KEYS  floor
-- ARGV  sequence, epoch
-- Returns {"ok"}.
typed({ 'hash' })
for i, field in ipairs({ 'seq', 'epoch' }) do
  redis.call('HSET', KEYS[1], field, whole(math.max(number(KEYS[1], field), tonumber(ARGV[i]))))
end
return { 'ok' }
