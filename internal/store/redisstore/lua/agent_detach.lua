-- agent_detach says that a node no longer holds connections of some agents. It works
-- when the store is full.
--
-- KEYS  seen:zset attached:zset meta:hash heard:zset agents[agent:hash]
-- ARGV  now:clock node hung_up:flag channel online_window:number ago:number agents[id]
-- FLAG  allow-oom
-- That they hung up, or did not, was ago milliseconds ago.
-- Returns {"ok"}, or {"unknown"} if one of them is not registered.
local lived, left = number(meta, 'lived'), now - ago
local out = { 'ok' }
for _, one in ipairs(agents) do
  local agent, id = one.agent, one.id
  if redis.call('HGET', agent, 'node') == node then
    redis.call('HDEL', agent, 'node')
    redis.call('ZADD', heard, whole(lived), id)
    local at = math.max(left, amount(redis.call('HGET', agent, 'seen')))
    -- Of a closed session its host was attached: nothing was seen of the session itself.
    local closed = redis.call('HEXISTS', agent, 'gone') == 1
    if not closed then redis.call('HSET', agent, 'seen', whole(at)) end
    if hung_up and not closed then
      redis.call('HSET', agent, 'gone', whole(now), 'cut', 1)
      redis.call('ZADD', seen, 0, id)
      -- No event: only who waits for its answer needs to look.
      redis.call('SPUBLISH', channel, '0 ' .. id)
    elseif not closed then
      redis.call('ZADD', seen, whole(signed(at, redis.call('HGET', agent, 'heartbeat'), online_window)), id)
    end
  end
  redis.call('ZREM', attached, node .. ' ' .. id)
  if redis.call('EXISTS', agent) == 0 then out = { 'unknown' } end
end
return out
