-- question_record notes which question a person was asked about a spent account.
--
-- KEYS  flow:hash
-- ARGV  account question
-- Returns {"ok"}.
local raw = redis.call('HGET', flow, account)
local head, tail = string.match(raw or '', '^(%S+ %S+ %S+ %S+) untold ?(.*)$')
if head then redis.call('HSET', flow, account, head .. ' ' .. question .. ' ' .. tail) end
return { 'ok' }
