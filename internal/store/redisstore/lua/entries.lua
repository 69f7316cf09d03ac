-- entries reads messages of one recipient, pending or ended. It never writes.
--
-- KEYS  body, fact, mark (the recipient's)
-- ARGV  most marks, then the hexes
-- Returns {{hex, fact, body} …, marks}; what is unknown has an empty fact.
local body, fact, mark = KEYS[1], KEYS[2], KEYS[3]
local out = {}
for i = 2, #ARGV do
  local hex = ARGV[i]
  table.insert(out, { hex, redis.call('HGET', fact, hex) or '', redis.call('HGET', body, hex) or '' })
end
table.insert(out, redis.call('HRANDFIELD', mark, ARGV[1], 'WITHVALUES'))
return out
