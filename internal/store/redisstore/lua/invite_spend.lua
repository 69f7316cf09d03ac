-- invite_spend uses an invitation up: once, before its end, with the right
-- hash, and not after too many wrong ones.
--
-- KEYS  invite:hash
-- ARGV  now:clock hash most:number attempt
-- FLAG  allow-oom
-- Returns {outcome, invite, expires, tries}.
local is = redis.call('HMGET', invite, 'i', 'hash', 'expires', 'tries', 'used')
if not is[1] then return { 'unknown' } end
local tries = tonumber(is[4])
if tries >= most then return { 'burned', is[1], is[3], tries } end
-- A wrong hash counts whatever else is wrong, and learns nothing of it.
if is[2] ~= hash then
  redis.call('HSET', invite, 'tries', tries + 1)
  return { 'wrong', is[1], is[3], tries + 1 }
end
if is[5] == attempt then return { 'spent', is[1], is[3], tries } end
if is[5] ~= '' then return { 'used', is[1], is[3], tries } end
if tonumber(is[3]) <= now then return { 'expired', is[1], is[3], tries } end
redis.call('HSET', invite, 'used', attempt)
return { 'spent', is[1], is[3], tries }
