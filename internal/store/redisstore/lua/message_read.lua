-- message_read reads messages of one recipient, pending or ended. It never writes.
--
-- KEYS  body fact mark
-- ARGV  max_marks hexes[]
-- FLAG  no-writes
-- Returns {{hex, fact, body} …, marks}; what is unknown has an empty fact.
local out = {}
for _, hex in ipairs(hexes) do
  table.insert(out, { hex, redis.call('HGET', fact, hex) or '', redis.call('HGET', body, hex) or '' })
end
table.insert(out, redis.call('HRANDFIELD', mark, max_marks, 'WITHVALUES'))
return out
