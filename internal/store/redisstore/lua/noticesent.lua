-- noticesent writes down that a person was told of a question by one channel.
--
-- KEYS  fact (the person's)
-- ARGV  now, from, hex, what
-- Returns {"ok"} or {"unknown"}.
typed({ 'hash' })
local now, from, hex, what = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local raw = redis.call('HGET', KEYS[1], hex)
local fact = editable(raw)
local notice = fact and fact.f == from and fact.nt and fact.nt[what]
if not notice then return { 'unknown' } end
if not notice.d then
  notice.d = now
  redis.call('HSET', KEYS[1], hex, cjson.encode(fact))
end
return { 'ok' }
