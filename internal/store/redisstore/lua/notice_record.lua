-- notice_record writes down that a person was told of a question by one channel.
--
-- KEYS  facts:hash
-- ARGV  now:clock from hex what
-- FLAG  allow-oom
-- Returns {"ok"} or {"unknown"}.
local raw = redis.call('HGET', facts, hex)
local fact = editable(raw)
local notice = fact and fact.f == from and fact.nt and fact.nt[what]
if not notice then return { 'unknown' } end
if not notice.d then
  notice.d = now
  redis.call('HSET', facts, hex, cjson.encode(fact))
end
return { 'ok' }
