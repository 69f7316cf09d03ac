-- push_put stores the browser that a token's holder wants to be told of questions in.
--
-- KEYS  grant:hash pushes:set
-- ARGV  kid text
-- Returns {"ok"} or {"unknown"}.
if redis.call('EXISTS', grant) == 0 then return { 'unknown' } end
redis.call('HSET', grant, 'push', text)
redis.call('SADD', pushes, kid)
return { 'ok' }
