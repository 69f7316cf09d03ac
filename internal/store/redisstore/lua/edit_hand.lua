-- edit_hand gives leases of one agent to another, each with a new number, all in one step.
-- On a branch only the branch's row goes: the next agent edits in a working tree of its own.
-- If the next agent has no session, nobody holds them any more.
--
-- KEYS  meta:hash agent:hash taker:hash edits:hash editors:hash
-- ARGV  now:clock run to files[tree on]
-- USES  edits
-- Returns {"handed", how many} or {"superseded"}.
if superseded(agent, run) then return { 'superseded' } end
local term = redis.call('HGET', agent, 'editing')
local mine = term and editor_of(term)
if not mine or agent == taker then return { 'handed', 0 } end
local r = redis.call('HMGET', taker, 'seen', 'gone', 'cut', 'editing')
local lives = r[1] and (not r[2] or r[3])
local before = math.max(number(meta, 'fence'), now - 1)
local fence = before
local next_term = lives and r[4] or nil
local next_editor = next_term and editor_of(next_term)
if lives and not next_editor then
  fence = fence + 1
  next_term, next_editor = whole(fence), { a = to, l = now, c = 0 }
end
if lives then next_editor.a, next_editor.l = to, now end

local changed, looked, count = {}, {}, 0
local function write(field, row)
  table.insert(changed, field)
  table.insert(changed, cjson.encode(row))
end
local function own(field) -- once: two leases may have been of one branch
  if field == '' or looked[field] then return nil end
  looked[field] = true
  local row = lease_of(field)
  return row and row.m == term and not row.e and row or nil
end
for _, file in ipairs(files) do
  local tree, on = own(file.tree), own(file.on)
  if tree or on then
    count = count + 1
    if tree then mine.c = mine.c - 1 end
    local goes, field = on or tree, on and file.on or file.tree
    if tree and on then
      tree.e = now
      write(file.tree, tree)
    end
    if lives then
      fence = fence + 1
      if not on then next_editor.c = next_editor.c + 1 end
      goes.n, goes.m, goes.a, goes.s, goes.l, goes.h = fence, next_term, to, now, now, 1
    else
      goes.e = now
    end
    write(field, goes)
  end
end
if count == 0 then return { 'handed', 0 } end
redis.call('HSET', edits, unpack(changed))
redis.call('HSET', editors, term, cjson.encode(mine))
if lives then
  redis.call('HSET', meta, 'fence', whole(fence))
  redis.call('HSET', editors, next_term, cjson.encode(next_editor))
  redis.call('HSET', taker, 'editing', next_term)
end
return { 'handed', count }
