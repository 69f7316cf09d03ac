-- floor_raise raises the number above which spaces begin, so that one that is used
-- again after it was forgotten gives no number twice.
--
-- KEYS  floor:hash
-- ARGV  seq:number epoch:number
-- FLAG  allow-oom
-- Returns {"ok"}.
redis.call('HSET', floor, 'seq', whole(math.max(number(floor, 'seq'), seq)), 'epoch', whole(math.max(number(floor, 'epoch'), epoch)))
return { 'ok' }
