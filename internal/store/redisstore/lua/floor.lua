-- floor raises the number above which spaces begin, so that one that is used
-- again after it was forgotten gives no number twice.
--
-- KEYS  floor:hash
-- ARGV  seq epoch
-- Returns {"ok"}.
for field, is in pairs({ seq = seq, epoch = epoch }) do
  redis.call('HSET', floor, field, whole(math.max(number(floor, field), tonumber(is))))
end
return { 'ok' }
