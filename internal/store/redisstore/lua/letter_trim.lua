-- letter_trim forgets one dead letter if its life is over, or at once.
--
-- KEYS  meta:hash mail{body:hash fact:hash} dead:zset threads:zset tickets:zset owed:zset
-- ARGV  owner from hex at_once
-- FLAG  allow-oom
-- Returns {"forgotten"} or {"left", the lived second at which its life ends; 0 if it is not there}.
local id = from .. '::' .. owner .. '::' .. hex
local died = redis.call('ZSCORE', dead, id)
if not died then return { 'left', 0 } end
local raw = redis.call('HGET', mail.fact, hex)
if raw then
  local fact = legible(raw)
  if at_once == '' and fact and (fact.l or 0) > number(meta, 'lived') then return { 'left', fact.l } end
  forget(mail, hex, fact)
elseif moving(meta, owner) then
  return { 'left', 0 }
end
redis.call('ZREM', dead, id)
redis.call('ZREM', owed, owing(owner, died, id))
return { 'forgotten' }
