-- space_tick advances the lived time of a space, and says whether the caller is the
-- one to look after it now and whether anything there may be due.
--
-- KEYS  meta:hash expire deadlines heard retired idemx flowx owed
-- ARGV  now:clock interval:number node retire:number ended_bytes:number idle:number
-- FLAG  allow-oom
-- Returns {"ok", lived seconds, "1" if the caller won, "1" if something may be due}.
local is = redis.call('HMGET', meta, 'ticked', 'lived_ms', 'lived', 'ticker', 'ended_bytes', 'sweep', 'moving')
local last, lived_ms, lived = tonumber(is[1] or now), tonumber(is[2] or 0), tonumber(is[3] or 0)
local passed = now - last
local won = is[4] == node
local advanced = not is[1] or passed < 0 or passed >= interval / 2
if advanced then
  won = true
  lived_ms = lived_ms + math.max(0, math.min(passed, 2 * interval))
  lived = math.floor(lived_ms / 1000)
end
-- Every key is looked at, so that one of a wrong type is found before the write.
local due = tonumber(is[6] or 0) <= lived or tonumber(is[5] or 0) > ended_bytes
for list, by in pairs({ [expire] = lived, [deadlines] = now, [heard] = retire > 0 and lived - retire or -1, [retired] = lived, [idemx] = lived, [flowx] = now - idle }) do
  local first = redis.call('ZRANGE', list, 0, 0, 'WITHSCORES')[2]
  due = due or (first and tonumber(first) <= by)
end
due = redis.call('ZCARD', owed) > 0 or due or is[7]
if advanced then
  redis.call('HSET', meta, 'ticked', whole(now), 'lived_ms', whole(lived_ms), 'lived', whole(lived), 'ticker', node)
end
return { 'ok', lived, won and '1' or '', won and due and '1' or '' }
