-- trimdead forgets one dead letter if its life is over, or at once.
--
-- KEYS  meta, body, fact (recipient's), dead, threads, tickets, owed
-- ARGV  owner, from, hex, at once
-- Returns {"forgotten"} or {"left", the lived second at which its life ends; 0 if it is not there}.
typed({ 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset' })
local k = { body = KEYS[2], fact = KEYS[3], threads = KEYS[5], tickets = KEYS[6] }
local owner, from, hex = ARGV[1], ARGV[2], ARGV[3]
local id = from .. '::' .. owner .. '::' .. hex
local died = redis.call('ZSCORE', KEYS[4], id)
if not died then return { 'left', 0 } end
local raw = redis.call('HGET', k.fact, hex)
if raw then
  local fact = legible(raw)
  if ARGV[4] == '' and fact and (fact.l or 0) > number(KEYS[1], 'lived') then return { 'left', fact.l } end
  forget(k, hex, fact)
elseif moving(KEYS[1], owner) then
  return { 'left', 0 }
end
redis.call('ZREM', KEYS[4], id)
redis.call('ZREM', KEYS[7], owing(owner, died, id))
return { 'forgotten' }
