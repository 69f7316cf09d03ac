-- invitespend uses an invitation up: once, before its end, with the right
-- hash, and not after too many wrong ones.
--
-- KEYS  invite
-- ARGV  now, hash, most wrong tries, attempt (a repeated step has the same one)
-- Returns {outcome, invite, expires, tries}.
typed({ 'hash' })
local invite = KEYS[1]
local now, most = clock(ARGV[1]), tonumber(ARGV[3])
local is = redis.call('HMGET', invite, 'i', 'hash', 'expires', 'tries', 'used')
if not is[1] then return { 'unknown' } end
local tries = tonumber(is[4])
if tries >= most then return { 'burned', is[1], is[3], tries } end
-- A wrong hash counts whatever else is wrong, and learns nothing of it.
if is[2] ~= ARGV[2] then
  redis.call('HSET', invite, 'tries', tries + 1)
  return { 'wrong', is[1], is[3], tries + 1 }
end
if is[5] == ARGV[4] then return { 'spent', is[1], is[3], tries } end
if is[5] ~= '' then return { 'used', is[1], is[3], tries } end
if tonumber(is[3]) <= now then return { 'expired', is[1], is[3], tries } end
redis.call('HSET', invite, 'used', ARGV[4])
return { 'spent', is[1], is[3], tries }
