-- edit_lease gives an agent the leases of files, all of them or none, and renews those
-- that it has. The rules stand at store.Store.Lease. Without files it only says that the
-- agent works.
--
-- KEYS  meta:hash agent:hash edits:hash editors:hash
-- ARGV  now:clock id run branch about idle:number most:number rows:number repository files[tree on path]
-- USES  edits
-- Of a file tree and on are its two fields in edits; on is empty without a branch. About
-- is what the agent works on; if it does not say, its task. A lease goes along to another
-- branch that is checked out; while none is, it stays on the one before.
-- Returns {"ok", now, number…}, or {"held", which file, holder, number, since, last edit,
-- task, branch}, superseded, gone, many or full.
if superseded(agent, run) then return { 'superseded' } end
local r = redis.call('HMGET', agent, 'seen', 'gone', 'cut', 'task', 'editing')
if not r[1] or r[2] and not r[3] then return { 'gone' } end
if about == '' then about = r[4] or '' end

local known = {}
local function editor(term)
  if known[term] == nil then known[term] = editor_of(term) or false end
  return known[term]
end
local term = r[5] and editor(r[5]) and r[5] or nil
local before = math.max(number(meta, 'fence'), now - 1)
local fence = before

local function another(row)
  if not row or row.e or row.m == term or row.h and now - row.l >= idle then return nil end
  local by = editor(row.m)
  return by and now - by.l < idle and by or nil
end

local trees, branches = {}, {}
for i, file in ipairs(files) do
  trees[i] = lease_of(file.tree) or false
  branches[i] = file.on ~= '' and lease_of(file.on) or false
  local row = trees[i]
  local by = another(row)
  if not by then
    row = branches[i]
    by = another(row)
  end
  if by then return { 'held', i, by.a, whole(row.n), whole(row.s), whole(row.l), row.k, row.b } end
end
if not term and #files == 0 then return { 'ok', now } end
if not term then
  fence = fence + 1
  term = whole(fence)
  known[term] = { a = id, l = now, c = 0 }
end
local mine = known[term]
mine.a, mine.l = id, now

local function held_still(row) return row and row.m == term and not row.e end
local changed, numbers, new = {}, { 'ok', now }, 0
local function write(field, row)
  table.insert(changed, field)
  table.insert(changed, cjson.encode(row))
end
for i, file in ipairs(files) do
  local tree, on = trees[i], branches[i]
  local row = { s = now, b = branch }
  if held_still(tree) and branch == '' then
    row.b = tree.b
  elseif held_still(tree) and tree.b ~= branch then
    local left, field = branch_left(tree, repository, file.path)
    if left then
      left.e = now
      write(field, left)
    end
  end
  if held_still(tree) and (file.on == '' or held_still(on) and on.n == tree.n) then
    row.n, row.s = tree.n, tree.s
  else
    if tree and not tree.e and editor(tree.m) then editor(tree.m).c = editor(tree.m).c - 1 end
    fence, new, mine.c = fence + 1, new + 1, mine.c + 1
    row.n = fence
  end
  row.m, row.a, row.l, row.k = term, id, now, about
  write(file.tree, row)
  if file.on ~= '' then write(file.on, row) end
  table.insert(numbers, whole(row.n))
end
if new > 0 and mine.c > most then return { 'many' } end
if new > 0 and redis.call('HLEN', edits) + 2 * new > rows then return { 'full' } end
local standings = {}
for by, is in pairs(known) do
  if is then
    table.insert(standings, by)
    table.insert(standings, cjson.encode(is))
  end
end

if fence > before then redis.call('HSET', meta, 'fence', whole(fence)) end
if #changed > 0 then redis.call('HSET', edits, unpack(changed)) end
redis.call('HSET', editors, unpack(standings))
redis.call('HSET', agent, 'editing', term)
return numbers
