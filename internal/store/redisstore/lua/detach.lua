-- detach says that a node no longer holds connections of some agents. It works
-- when the store is full.
--
-- KEYS  seen, attached, meta, heard, then the agents
-- ARGV  now, node, "1" if they hung up, channel, online window, how many
--       milliseconds ago that was, the agents' ids
-- Returns {"ok"}, or {"unknown"} if one of them is not registered.
typed({ 'zset', 'zset', 'hash', 'zset' })
local seen, attachments = KEYS[1], KEYS[2]
local now, node, hung_up, channel = clock(ARGV[1]), ARGV[2], ARGV[3] == '1', ARGV[4]
local lived, window, left = number(KEYS[3], 'lived'), tonumber(ARGV[5]), now - tonumber(ARGV[6])
for i = 5, #KEYS do
  local is = redis.call('TYPE', KEYS[i]).ok
  if is ~= 'none' and is ~= 'hash' then error({ err = 'WRONGTYPE ' .. KEYS[i] .. ' holds a ' .. is }) end
end
local out = { 'ok' }
for i = 5, #KEYS do
  local id = ARGV[i + 2]
  if redis.call('HGET', KEYS[i], 'node') == node then
    redis.call('HDEL', KEYS[i], 'node')
    local at = math.max(left, amount(redis.call('HGET', KEYS[i], 'seen')))
    redis.call('HSET', KEYS[i], 'seen', whole(at))
    redis.call('ZADD', KEYS[4], whole(lived), id)
    if hung_up then
      redis.call('HSET', KEYS[i], 'gone', whole(now), 'cut', 1)
      redis.call('ZADD', seen, 0, id)
      -- No event: only who waits for its answer needs to look.
      redis.call('SPUBLISH', channel, '0 ' .. id)
    else
      redis.call('ZADD', seen, whole(signed(at, redis.call('HGET', KEYS[i], 'heartbeat'), window)), id)
    end
  end
  redis.call('ZREM', attachments, node .. ' ' .. id)
  if redis.call('EXISTS', KEYS[i]) == 0 then out = { 'unknown' } end
end
return out
