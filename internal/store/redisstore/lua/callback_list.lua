-- callback_list names the tasks that somebody wants to be told of, and since a revision.
--
-- KEYS  callbacks
-- ARGV  after most:number
-- FLAG  no-writes
-- Returns {"ok", revision up to which all are named, names}.
local rows = redis.call('ZRANGE', callbacks, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, whole(most), 'WITHSCORES')
local names, revision = {}, after
for i = 1, #rows, 2 do
  table.insert(names, rows[i])
  revision = rows[i + 1]
end
return { 'ok', revision, names }
