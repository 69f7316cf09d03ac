-- usage_record records what a run has used for a message since it was given it, and adds
-- what is new to the cost of the message's chain. Each number of a run only grows: a
-- repeat, or a report that was overtaken, adds nothing. A chain whose tokens of the hour
-- are used is paused, so that the next message in it is refused.
--
-- KEYS  reader:hash facts:hash flow:hash flowx:zset
-- ARGV  now:clock owner from hex agent run client input:number output:number cache_read:number cache_write:number
--       micro_usd:number shared:flag runs:number keep:number caps:literal
-- USES  flow
-- Returns {"recorded"}, {"left"} for a message that is not the agent's or if nothing is
-- new, or {"superseded"}.
if superseded(reader, run) then return { 'superseded' } end
local fact = editable(redis.call('HGET', facts, hex))
if not fact or fact.f ~= from or from == 'system' then return { 'left' } end
if string.sub(owner, 1, 5) == 'role/' then
  if not (fact.cl and fact.cl.b == agent) then return { 'left' } end
elseif owner ~= agent then
  return { 'left' }
end

local NUMBERS = { 'i', 'o', 'c', 'w', 'm' }
local said = { i = input, o = output, c = cache_read, w = cache_write, m = micro_usd }
local rows = fact.us or {}
local known = #rows > 0
local row
for _, of in ipairs(rows) do
  if of.r == run then row = of end
end
if not row then
  row = { r = run, b = client, i = 0, o = 0, c = 0, w = 0, m = 0 }
  if #rows >= runs then
    for _, n in ipairs(NUMBERS) do rows[2][n] = rows[2][n] + rows[1][n] end
    rows[2].r, rows[2].s = '+', (rows[1].s or rows[2].s) and 1 or nil
    table.remove(rows, 1)
  end
  rows[#rows + 1] = row
end
local more, tokens, new = {}, 0, false
for i, n in ipairs(NUMBERS) do
  more[i] = math.max(0, said[n] - row[n])
  row[n] = row[n] + more[i]
  if i < 5 then tokens = tokens + more[i] end
  if more[i] > 0 then new = true end
end
if not new then return { 'left' } end
if shared then row.s = 1 end
fact.us = rows

-- The cost of the chain: its five numbers, messages whose cost is known, when the hour of
-- its account began, and tokens in it.
local chain = fact.ch or fact.t
local field = 't:' .. chain
local raw = redis.call('HGET', flow, field)
local a = account(raw, now, true)
local sum = {}
for n in string.gmatch(redis.call('HGET', flow, 'c:' .. chain) or '', '%S+') do sum[#sum + 1] = tonumber(n) end
if #sum ~= 8 then sum = { 0, 0, 0, 0, 0, 0, 0, 0 } end -- none, or damaged
for i = 1, 5 do sum[i] = sum[i] + more[i] end
if not known then sum[6] = sum[6] + 1 end
if sum[7] ~= a.start then sum[7], sum[8] = a.start, 0 end
sum[8] = sum[8] + tokens
redis.call('ZCARD', flowx) -- it will be written

if #caps > 0 and caps[10] > 0 then
  if a.state == '-' and sum[8] >= caps[10] then
    a.state = 'untold'
    redis.call('ZREM', flowx, field)
  elseif a.state == '-' then
    redis.call('ZADD', flowx, whole(now), field)
  end
  redis.call('HSET', flow, field, written(a))
end
for i = 1, 8 do sum[i] = whole(sum[i]) end
redis.call('HSET', flow, 'c:' .. chain, table.concat(sum, ' '))
redis.call('ZADD', flowx, whole(now + keep), 'c:' .. chain)
redis.call('HSET', facts, hex, cjson.encode(fact))
return { 'recorded' }
