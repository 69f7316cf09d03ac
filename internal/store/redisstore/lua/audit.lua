-- audit appends an entry to one of the two streams, if it is the next of its
-- chain. Ids grow over both, so that they are read as one.
--
-- KEYS  stream it belongs to, the other one, chain
-- ARGV  entry, most entries, name of the chain, number, hash before it, id, hash;
--       the last is empty for a first look
-- Returns {"ok"}, or {"next", number and hash of the last one, an id} if the entry
-- has another place. One that is the last already was written by an earlier try.
typed({ 'stream', 'stream', 'hash' })
local name, n, prev, id, hash = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local last_n, last_hash = string.match(redis.call('HGET', KEYS[3], name) or '0 ', '^(%d+) (%x*)$')
if not last_n then error({ err = 'DAMAGED the head of the chain is no number and hash' }) end
if hash ~= '' and hash == last_hash then return { 'ok' } end
local ms, seq = 0, 0
for i = 1, 2 do
  local newest = redis.call('XREVRANGE', KEYS[i], '+', '-', 'COUNT', 1)[1]
  if newest then
    local m, s = string.match(newest[1], '^(%d+)-(%d+)$')
    m, s = tonumber(m), tonumber(s)
    if m > ms or m == ms and s > seq then ms, seq = m, s end
  end
end
local given_ms, given_seq = string.match(id, '^(%d+)-(%d+)$')
given_ms, given_seq = tonumber(given_ms or 0), tonumber(given_seq or 0)
local later = given_ms > ms or given_ms == ms and given_seq > seq
if hash == '' or prev ~= last_hash or tonumber(n) ~= tonumber(last_n) + 1 or not later then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  return { 'next', tonumber(last_n), last_hash, now > ms and string.format('%.0f-0', now) or string.format('%.0f-%.0f', ms, seq + 1) }
end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], id, 'e', ARGV[1], 'n', n, 'p', prev, 'h', hash)
redis.call('HSET', KEYS[3], name, n .. ' ' .. hash)
return { 'ok' }
