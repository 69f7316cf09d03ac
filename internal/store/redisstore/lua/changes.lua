-- changes names the grants that changed after a revision.
--
-- KEYS  changes, auth
-- ARGV  after
-- Returns {"ok", revision, kids}.
local changes, auth = KEYS[1], KEYS[2]
local revision = redis.call('HGET', auth, 'revision') or '0'
local kids = {}
if tonumber(revision) > tonumber(ARGV[1]) and tonumber(ARGV[1]) >= 0 then
  kids = redis.call('ZRANGE', changes, '(' .. ARGV[1], '+inf', 'BYSCORE')
end
return { 'ok', revision, kids }
