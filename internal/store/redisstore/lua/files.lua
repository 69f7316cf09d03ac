-- files is put in front of the steps about files that travel with messages.
--
-- KEYS  files filex filebox chunks
-- ARGV  from

-- FILE_ROW is what a file takes beside its bytes.
local FILE_ROW = 1024

-- A row of files: f its sender, z its size, o how many bytes are stored, d that it is
-- complete, h the messages that carry it. filed gives nil for one that is damaged.
local function filed(raw)
  if not raw then return nil end
  local read, row = pcall(cjson.decode, raw)
  if read and type(row) == 'table' and type(row.f) == 'string' and type(row.h) == 'string' and countable(row.z) and countable(row.o) then return row end
  return nil
end

-- crammed says that so many more bytes would take memory that is kept for mail. Who may
-- not ask how much is used has no such bound.
local FILES_PER_CENT = 60
local function crammed(more)
  local said = redis.pcall('INFO', 'memory')
  said = type(said) == 'string' and said or ''
  local used, most = amount(string.match(said, '\nused_memory:(%d+)')), amount(string.match(said, '\nmaxmemory:(%d+)'))
  return most > 0 and used + more > most * FILES_PER_CENT / 100
end

-- attachable gives the rows of files that a message of the caller's can carry, or nil and
-- the one that it cannot.
local MAX_HOLDERS = 256
local function attachable(ids)
  local rows = {}
  for i, id in ipairs(ids) do
    local row = filed(redis.call('HGET', files, id))
    if not row or not row.d or row.f ~= from or select(2, string.gsub(row.h, '%S+', '')) >= MAX_HOLDERS then return nil, id end
    rows[i] = row
  end
  return rows
end

-- carried_by gives the rows of those files of a message that are still there. A file that
-- another message of the step carries too has one row, so that it gets both.
local function carried_by(ids, others, of_others)
  local rows, found, known, listed = {}, {}, {}, {}
  for i, id in ipairs(others) do known[id] = of_others[i] end
  for _, id in ipairs(ids) do
    local row = known[id] or filed(redis.call('HGET', files, id))
    if row and not listed[id] then
      listed[id] = true
      table.insert(rows, row)
      table.insert(found, id)
    end
  end
  return rows, found
end

-- attach writes down that a message carries files. Everything was checked before.
local function attach_to(id, ids, rows)
  for i, row in ipairs(rows) do
    row.h = row.h == '' and id or row.h .. ' ' .. id
    redis.call('HSET', files, ids[i], cjson.encode(row))
  end
end
