-- vacate looks whether a space is empty, notes since when it is, and forgets it if
-- it is told to and nothing has happened there since.
--
-- KEYS  meta, then those that a space in use has something in, then what else
--       there can be of one that is not
-- ARGV  number of the former, lived seconds after which an empty space can be
--       forgotten, the sequence of the space that is to be forgotten or nothing
-- Returns {"busy"}, {"empty"}, {"over"}, {"forgotten"}.
typed({ 'hash', 'zset', 'zset', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'zset', 'zset', 'hash', 'hash', 'zset', 'zset', 'hash',
  'stream', 'zset', 'zset', 'zset', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'hash', 'stream', 'hash', 'hash' })
local meta, used, life, last = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local is = redis.call('HMGET', meta, 'seq', 'paused', 'pending', 'empty', 'empty_seq', 'lived')
local seq, lived = is[1] or '0', tonumber(is[6] or 0)
local busy = (is[2] and is[2] ~= '') or tonumber(is[3] or 0) > 0
for i = 2, 1 + used do busy = redis.call('EXISTS', KEYS[i]) == 1 or busy end
if busy then
  if is[4] then redis.call('HDEL', meta, 'empty', 'empty_seq') end
  return { 'busy' }
end
if last ~= '' then
  if last ~= seq then return { 'busy' } end
  redis.call('UNLINK', unpack(KEYS))
  return { 'forgotten' }
end
if not is[4] or is[5] ~= seq then
  redis.call('HSET', meta, 'empty', whole(lived), 'empty_seq', seq)
  return { 'empty' }
end
return { lived - tonumber(is[4]) >= life and 'over' or 'empty' }
