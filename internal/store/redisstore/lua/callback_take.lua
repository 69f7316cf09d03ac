-- callback_take takes on telling one caller of the state of its task, for as long as the
-- lease is. The tries are counted for each state.
--
-- KEYS  callback:hash
-- ARGV  now:clock id state lease:number longest:number
-- FLAG  allow-oom
-- Returns {"taken", tries before, since when in ms}; {"told"} if it was told; {"held", ms}
-- if that is being done or not yet tried again; {"gone"}.
local is = redis.call('HMGET', callback, 'b:' .. id, 't:' .. id, 'u:' .. id, 'w:' .. id, 'n:' .. id, 's:' .. id)
if not is[1] then return { 'gone' } end
if is[2] == state then return { 'told' } end
local same = is[4] == state
local left = amount(is[3]) - now
-- A time that is further away than any pause was given before the clock was set back. A
-- pause after another state does not hold up this one; a post that is under way does.
if left > 0 and left <= longest and (same or left <= lease) then return { 'held', whole(left) } end
local tries, since = same and amount(is[5]) or 0, same and amount(is[6]) or now
redis.call('HSET', callback, 'u:' .. id, whole(now + lease), 'w:' .. id, state, 'n:' .. id, whole(tries), 's:' .. id, whole(since))
return { 'taken', whole(tries), whole(now - since) }
