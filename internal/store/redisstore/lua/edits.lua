-- edits is what the steps share that give and end leases of files. A lease is two rows in
-- edits with one number: what the file is in its working tree, and what it is on its
-- branch. Each names the term of its holder, which stands in editors while the holder's
-- session lasts; so the end of a session ends all its leases at once.
--
-- KEYS  edits editors

-- fielded reads JSON whose fields have these types; nil if there is none, or if it is damaged.
local function fielded(raw, has)
  if not raw then return nil end
  local read, row = pcall(cjson.decode, raw)
  if not read or type(row) ~= 'table' then return nil end
  for field, is in pairs(has) do
    if type(row[field]) ~= is then return nil end
  end
  return row
end

-- editor_of is who edits by a term: a (agent), l (last sign of its work), c (its leases).
local function editor_of(term) return fielded(redis.call('HGET', editors, term), { a = 'string', l = 'number', c = 'number' }) end

-- lease_of is one row: n (number), m (term), a (what its holder was called), s (since), l (last
-- edit), k (task), b (branch), once it was released e (when), and h (1) if it was handed over
-- and its holder has not edited the file yet.
local function lease_of(field)
  local row = fielded(redis.call('HGET', edits, field), { n = 'number', m = 'string', a = 'string', s = 'number', l = 'number', k = 'string', b = 'string' })
  return row and (row.e == nil or type(row.e) == 'number') and (row.h == nil or row.h == 1) and row or nil
end

-- branch_left is the row that a lease in a working tree has on its branch, with its field; nil
-- if it has none there any more. A field is made as leaseField in leases.go makes it.
local function branch_left(row, repository, path)
  if row.b == '' then return nil end
  local field = repository .. '\0b:' .. row.b .. '\0' .. path
  local on = lease_of(field)
  if not on or on.e or on.m ~= row.m or on.n ~= row.n then return nil end
  return on, field
end

-- stops_editing ends the leases of a session. It cannot fail where both keys were looked at.
local function stops_editing(agent)
  local term = redis.call('HGET', agent, 'editing')
  if not term then return end
  redis.call('HDEL', editors, term)
  redis.call('HDEL', agent, 'editing')
end
