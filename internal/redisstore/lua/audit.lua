-- audit appends an entry to one of the two streams. Ids grow over both, so that
-- they are read as one.
--
-- KEYS  stream it belongs to, the other one
-- ARGV  entry, most entries
-- Returns {"ok", id}.
typed({ 'stream', 'stream' })
local ms, seq = 0, 0
for _, key in ipairs(KEYS) do
  local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if newest then
    local m, s = string.match(newest[1], '^(%d+)-(%d+)$')
    m, s = tonumber(m), tonumber(s)
    if m > ms or m == ms and s > seq then ms, seq = m, s end
  end
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local id = now > ms and string.format('%.0f-0', now) or string.format('%.0f-%.0f', ms, seq + 1)
return { 'ok', redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], id, 'e', ARGV[1]) }
