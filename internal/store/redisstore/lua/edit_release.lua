-- edit_release ends leases: an agent's of these files, or whoever's that have this number.
-- What has ended is remembered for a while, so that who held it before can be told.
--
-- KEYS  agent:hash edits:hash editors:hash
-- ARGV  now:clock run fence:number repository files[tree on path]
-- FLAG  allow-oom
-- USES  edits
-- Fence is 0 for an agent's own. A person's release has no run.
-- Returns {"released", how many} or {"superseded"}.
if superseded(agent, run) then return { 'superseded' } end
local term = redis.call('HGET', agent, 'editing')
local changed, standings, count = {}, {}, 0
local function ended(field, row)
  row.e = now
  table.insert(changed, field)
  table.insert(changed, cjson.encode(row))
end
local function ends(field, path) -- the path of what is in a working tree
  local row = field ~= '' and lease_of(field)
  if not row or row.e or fence > 0 and row.n ~= fence or fence == 0 and row.m ~= term then return end
  ended(field, row)
  if not path then return end
  local on, at = branch_left(row, repository, path) -- another branch may be checked out by now
  if on then ended(at, on) end
  count = count + 1
  local by = standings[row.m] or editor_of(row.m)
  if by then
    by.c = by.c - 1
    standings[row.m] = by
  end
end
for _, file in ipairs(files) do
  ends(file.tree, file.path)
  ends(file.on)
end
local written = {}
for by, is in pairs(standings) do
  table.insert(written, by)
  table.insert(written, cjson.encode(is))
end
if #changed > 0 then redis.call('HSET', edits, unpack(changed)) end
if #written > 0 then redis.call('HSET', editors, unpack(written)) end
return { 'released', count }
