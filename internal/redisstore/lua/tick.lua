-- tick advances the lived time of a space.
--
-- KEYS  meta
-- ARGV  now, interval in milliseconds
-- Returns {"ok", lived seconds}.
typed({ 'hash' })
local now, interval = clock(ARGV[1]), tonumber(ARGV[2])
local last = tonumber(redis.call('HGET', KEYS[1], 'ticked') or now)
local fresh = redis.call('HEXISTS', KEYS[1], 'ticked') == 0
local passed = now - last
if fresh or passed < 0 or passed >= interval / 2 then
  local lived = number(KEYS[1], 'lived_ms') + math.max(0, math.min(passed, 2 * interval))
  redis.call('HSET', KEYS[1], 'ticked', whole(now), 'lived_ms', whole(lived), 'lived', whole(math.floor(lived / 1000)))
end
return { 'ok', number(KEYS[1], 'lived') }
