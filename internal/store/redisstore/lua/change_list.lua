-- change_list names the grants that changed after a revision.
--
-- KEYS  changes auth
-- ARGV  after
-- FLAG  no-writes
-- Returns {"ok", revision, kids}.
local revision = redis.call('HGET', auth, 'revision') or '0'
local kids = {}
if tonumber(revision) > tonumber(after) and tonumber(after) >= 0 then
  kids = redis.call('ZRANGE', changes, '(' .. after, '+inf', 'BYSCORE')
end
return { 'ok', revision, kids }
