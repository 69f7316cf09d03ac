-- told notes which question a person was asked about a spent account.
--
-- KEYS  flow
-- ARGV  account, message id
-- Returns {"ok"}.
typed({ 'hash' })
local raw = redis.call('HGET', KEYS[1], ARGV[1])
local head, tail = string.match(raw or '', '^(%S+ %S+ %S+ %S+) untold ?(.*)$')
if head then redis.call('HSET', KEYS[1], ARGV[1], head .. ' ' .. ARGV[2] .. ' ' .. tail) end
return { 'ok' }
