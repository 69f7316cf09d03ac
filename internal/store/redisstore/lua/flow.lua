-- flow is put in front of the steps that store what an agent wrote. It keeps the
-- accounts from which loops are told: of a chain of messages, of a pair, of an
-- agent. One account is one field of the hash flow: when its hour began, messages
-- and bytes in it, hops since a person had a part, its state, and a tail (who
-- handled the chain; which texts the pair sent lately).
--
-- The state is "-", "untold" (spent, and somebody must be told), or the id of the
-- question a person was asked. A chain stays so until it is resumed, the others
-- until their hour is over.
--
-- What a chain has cost is the field c:CHAIN (usage_record.lua). The report that uses up
-- the tokens pauses the chain; steps that store a message read it only to warn.
--
-- KEYS  flow flowx
-- ARGV  now caps

local HOUR = 3600000
local MOST_HANDLERS, MOST_TEXTS = 8, 8

local function account(raw, now, chain)
  local a = { start = now, n = 0, b = 0, hops = 0, state = '-', tail = '' }
  if not raw then return a end
  local start, n, b, hops, state, rest = string.match(raw, '^(%S+) (%S+) (%S+) (%S+) (%S+) ?()')
  start, n, b, hops = tonumber(start), tonumber(n), tonumber(b), tonumber(hops)
  if not (start and n and b and hops) then return a end -- damaged: it begins anew
  a.hops, a.tail = hops, string.sub(raw, rest)
  if (chain and state ~= '-') or (start <= now and now - start < HOUR) then a.start, a.n, a.b, a.state = start, n, b, state end
  return a
end

local WHOLES = WHOLE .. ' ' .. WHOLE .. ' ' .. WHOLE .. ' ' .. WHOLE .. ' '
local function written(a)
  return string.format(WHOLES, a.start, a.n, a.b, a.hops) .. a.state .. ' ' .. a.tail
end

-- latest keeps the last few words of a list, the new one at its end.
local function latest(list, word, most)
  if list == '' then return word end
  local words = {}
  for w in string.gmatch(list, '%S+') do table.insert(words, w) end
  table.insert(words, word)
  while #words > most do table.remove(words, 1) end
  return table.concat(words, ' ')
end

-- counted says how often a text is in the tail of a pair within a window, and gives
-- what is to be kept of the tail, to which the text is added. Times never fall
-- along a tail, as what is of the future is dropped: if the first and the last are
-- in the window all are, and most often nothing has to be looked at one by one.
local TEXT = 27 -- 12 digits, @, 13 digits of milliseconds, a blank
local function counted(tail, digest, now, window)
  local oldest, newest = tonumber(string.sub(tail, 14, 26)), tonumber(string.sub(tail, -13))
  if oldest and newest and newest <= now and now - oldest < window and not string.find(tail, digest, 1, true) then
    if #tail + 1 >= TEXT * MOST_TEXTS then tail = string.sub(tail, TEXT + 1) end
    return 0, tail .. ' '
  end
  local times, kept = 0, {}
  for text, at in string.gmatch(tail, '(%x+)@(%d+)') do
    local age = now - tonumber(at)
    if age >= 0 and age < window then
      kept[#kept + 1] = text .. '@' .. at
      if text == digest then times = times + 1 end
    end
  end
  if #kept == MOST_TEXTS then table.remove(kept, 1) end
  kept[#kept + 1] = ''
  return times, table.concat(kept, ' ')
end

-- reckon opens the accounts of a message m (from, to, chain, bytes, digest) and
-- gives them, or nil and the answer of the script: {"spent", whose, what, account,
-- "untold" or the question, handlers, when the hour began}. What is first found spent is written down.
-- caps are numbers, 0 for no limit, or none for no accounts at all.
local function reckon(m)
  if #caps == 0 or m.from == 'system' or m.to == 'human' then return {} end
  redis.call('ZCARD', flowx) -- it will be written
  local cap = caps
  if m.from == 'human' then
    -- A person has a part in the chain: it starts over, though not if it is paused.
    local raw = m.chain ~= '' and redis.call('HGET', flow, 't:' .. m.chain)
    if not raw then return {} end
    local a = account(raw, now, true)
    a.hops, a.n, a.b = 0, 0, 0
    if a.state == '-' then a.start = now end -- its tokens are those of this hour
    return { { 't:' .. m.chain, a } }
  end
  local pair = m.from < m.to and m.from .. ' ' .. m.to or m.to .. ' ' .. m.from
  local raws = redis.call('HMGET', flow, 't:' .. m.chain, 'p:' .. pair, 'a:' .. m.from, 'c:' .. m.chain)
  local c, p, a = account(m.chain ~= '' and raws[1], now, true), account(raws[2], now), account(raws[3], now)
  if raws[4] and cap[10] > 0 then
    local hour, tokens = string.match(raws[4], '(%S+) (%S+)$')
    if tonumber(hour) == c.start then c.tokens = tonumber(tokens) end
  end
  local function over(used, most) return most > 0 and used > most end
  local function spent(whose, what, field, acc)
    if acc.state == '-' then
      acc.state = 'untold'
      redis.call('HSET', flow, field, written(acc))
      if whose == 'chain' then redis.call('ZREM', flowx, field) else redis.call('ZADD', flowx, whole(now), field) end
    end
    return nil, { 'spent', whose, what, field, acc.state, c.tail, acc.start }
  end
  if c.state ~= '-' then return spent('chain', 'paused', 't:' .. m.chain, c) end
  if m.chain ~= '' then
    if over(c.n + 1, cap[1]) then return spent('chain', 'messages', 't:' .. m.chain, c) end
    if over(c.b + m.bytes, cap[2]) then return spent('chain', 'bytes', 't:' .. m.chain, c) end
    if over(c.hops + 1, cap[3]) then return spent('chain', 'hops', 't:' .. m.chain, c) end
  end
  if over(p.n + 1, cap[4]) then return spent('pair', 'messages', 'p:' .. pair, p) end
  if over(p.b + m.bytes, cap[5]) then return spent('pair', 'bytes', 'p:' .. pair, p) end
  if over(a.n + 1, cap[6]) then return spent('agent', 'messages', 'a:' .. m.from, a) end
  if over(a.b + m.bytes, cap[7]) then return spent('agent', 'bytes', 'a:' .. m.from, a) end
  if m.digest ~= '' and cap[8] > 0 then
    local before, kept = counted(p.tail, m.digest, now, cap[9])
    if before >= cap[8] then return nil, { 'spent', 'text', 'repeated', '', '', '', 0 } end
    p.tail, p.same = kept .. m.digest .. '@' .. whole(now), before + 1
  end
  c.n, c.b, p.n, p.b, a.n, a.b = c.n + 1, c.b + m.bytes, p.n + 1, p.b + m.bytes, a.n + 1, a.b + m.bytes
  c.hops, c.tail = c.hops + 1, latest(c.tail, m.from, MOST_HANDLERS)
  return { { 't:' .. m.chain, c }, { 'p:' .. pair, p }, { 'a:' .. m.from, a } }
end

-- spending is what accounts have used: of the chain messages, bytes and hops, of the
-- pair and of the agent messages and bytes, how often the pair had this text, and the
-- tokens of the chain.
local function spending(accounts)
  if #accounts == 0 then return accounts end
  local of = {}
  for _, entry in ipairs(accounts) do of[string.sub(entry[1], 1, 2)] = entry[2] end
  local none = { n = 0, b = 0, hops = 0 }
  local c, p, a = of['t:'] or none, of['p:'] or none, of['a:'] or none
  return { c.n, c.b, c.hops, p.n, p.b, a.n, a.b, p.same or 0, c.tokens or 0 }
end

-- charge writes accounts down; id names the chain of a message that began one. When an
-- account was used last decides when it is forgotten. Of a pair or an agent nothing counts
-- that is older than an hour, so it is enough to know when its hour began.
local function charge(accounts, id)
  local fields, used = {}, {}
  for _, entry in ipairs(accounts) do
    local field, a = entry[1] == 't:' and 't:' .. id or entry[1], entry[2]
    fields[#fields + 1], fields[#fields + 2] = field, written(a)
    if a.state == '-' and (a.start == now or string.byte(field) == 116 or caps[9] > HOUR) then -- 116 is "t"
      used[#used + 1], used[#used + 2] = whole(now), field
    end
  end
  if #fields > 0 then redis.call('HSET', flow, unpack(fields)) end
  if #used > 0 then redis.call('ZADD', flowx, unpack(used)) end
end
