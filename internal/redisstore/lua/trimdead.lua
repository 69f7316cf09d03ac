-- trimdead forgets one dead letter if its life is over.
--
-- KEYS  meta, body, fact (recipient's), dead, threads, tickets
-- ARGV  owner, from, hex
-- Returns {"forgotten"} or {"left"}.
typed({ 'hash', 'hash', 'hash', 'zset', 'zset', 'zset' })
local k = { body = KEYS[2], fact = KEYS[3], threads = KEYS[5], tickets = KEYS[6] }
local owner, from, hex = ARGV[1], ARGV[2], ARGV[3]
local raw = redis.call('HGET', k.fact, hex)
if raw then
  local fact = cjson.decode(raw)
  if fact.l > number(KEYS[1], 'lived') then return { 'left' } end
  forget(k, owner, hex, fact)
end
redis.call('ZREM', KEYS[4], from .. '::' .. owner .. '::' .. hex)
return { 'forgotten' }
