-- audit_append appends an entry to one of the two streams, if it is the next of its
-- chain. Ids grow over both, so that they are read as one.
--
-- KEYS  stream:stream other:stream chain:hash
-- ARGV  entry max_entries name n prev id hash
-- FLAG  allow-oom
-- It belongs to stream, whose chain is called name; hash is empty for a first look.
-- Returns {"ok"}, or {"next", number and hash of the last one, an id} if the entry
-- has another place. One that is the last already was written by an earlier try.
local last_n, last_hash = string.match(redis.call('HGET', chain, name) or '0 ', '^(%d+) (%x*)$')
if not last_n then error({ err = 'DAMAGED the head of the chain is no number and hash' }) end
if hash ~= '' and hash == last_hash then return { 'ok' } end
local ms, seq = 0, 0
for _, either in ipairs({ stream, other }) do
  local newest = redis.call('XREVRANGE', either, '+', '-', 'COUNT', 1)[1]
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
redis.call('XADD', stream, 'MAXLEN', '~', max_entries, id, 'e', entry, 'n', n, 'p', prev, 'h', hash)
redis.call('HSET', chain, name, n .. ' ' .. hash)
return { 'ok' }
