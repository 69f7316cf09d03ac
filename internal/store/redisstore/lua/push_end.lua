-- push_end forgets a token's browser, unless another one was stored since.
--
-- KEYS  grant:hash pushes:set
-- ARGV  kid text
-- FLAG  allow-oom
-- An empty text is any.
-- Returns {"ok"} or {"other"}.
local is = redis.call('HGET', grant, 'push')
if is and text ~= '' and is ~= text then return { 'other' } end
redis.call('HDEL', grant, 'push')
redis.call('SREM', pushes, kid)
return { 'ok' }
