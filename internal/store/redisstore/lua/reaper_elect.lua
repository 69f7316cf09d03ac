-- reaper_elect makes a node the one that reaps, for a while, unless another one is.
-- With a length of 0 the node gives that up. It works when the store is full.
--
-- KEYS  reaper:hash
-- ARGV  now:clock node length:number
-- FLAG  allow-oom
-- Returns {"ok", milliseconds for which another node still is; 0: this one is}.
local is = redis.call('HMGET', reaper, 'node', 'until', 'length')
local left = tonumber(is[2] or 0) - now
-- A term that ends later than it can was given before the clock was set back.
if is[1] and is[1] ~= node and left > 0 and left <= tonumber(is[3] or 0) then return { 'ok', left } end
if length == 0 then
  if is[1] == node then redis.call('DEL', reaper) end
else
  redis.call('HSET', reaper, 'node', node, 'until', whole(now + length), 'length', whole(length))
end
return { 'ok', 0 }
