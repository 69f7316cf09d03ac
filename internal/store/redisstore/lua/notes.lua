-- notes writes down what a node learned: who was seen, what was served, which
-- session was told of what. The first reader of a ticket makes it delivered.
--
-- KEYS  seen, attached, nodes, meta, events, heard, then one key per note:
--       agent, fact or mark
-- ARGV  now, number of seen, number of served, most served, channel, most
--       events, most marks, number of notified, online window, most notices of a mark, then per note
--       seen: id, how many milliseconds ago; served: from, owner, hex, reader, route, at, cursor, times, first; notified: reader, route, seq, at;
--       given: reader, seq
typed({ 'zset', 'zset', 'hash', 'hash', 'stream', 'zset' })
for i = 7, #KEYS do
  local is = redis.call('TYPE', KEYS[i]).ok
  if is ~= 'none' and is ~= 'hash' then error({ err = 'WRONGTYPE ' .. KEYS[i] .. ' holds a ' .. is }) end
end
local now, seen_notes, served_notes, most = clock(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
-- A note is up to a second old: one from before the agent unregistered must
-- not bring it back, a later one must.
local LATE = 2000
local log = opened(KEYS[4], KEYS[5], ARGV[5], ARGV[6], now)
ahead(log)
local k, a = 7, 11
local lived, window = number(KEYS[4], 'lived'), tonumber(ARGV[9])
for _ = 1, seen_notes do
  local agent, id, ago = KEYS[k], ARGV[a], tonumber(ARGV[a + 1])
  local at = now - ago
  local r = redis.call('HMGET', agent, 'seen', 'node', 'gone', 'heartbeat')
  -- Of a call some time ago the store may have heard more since.
  if r[1] and (ago == 0 or at > amount(r[1])) then
    redis.call('HSET', agent, 'seen', whole(at))
    redis.call('ZADD', KEYS[6], whole(lived), id)
    if r[2] and r[2] ~= '' and not attached(r[2], KEYS[3], now) then
      redis.call('ZREM', KEYS[2], r[2] .. ' ' .. id)
      redis.call('HDEL', agent, 'node')
      r[2] = nil
    end
    if r[3] and at - amount(r[3]) > LATE then
      redis.call('HDEL', agent, 'gone')
      r[3] = nil
    end
    if not r[3] and not (r[2] and r[2] ~= '') then redis.call('ZADD', KEYS[1], whole(signed(at, r[4], window)), id) end
  end
  k, a = k + 1, a + 2
end
for _ = 1, served_notes do
  local from, owner, hex, reader, route = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
  local at, cursor, times, first = tonumber(ARGV[a + 5]), tonumber(ARGV[a + 6]), tonumber(ARGV[a + 7]), tonumber(ARGV[a + 8])
  local raw = redis.call('HGET', KEYS[k], hex)
  local fact = editable(raw)
  if fact and fact.f == from then
    if fact.e and not is_read(fact) and not fact.s and not resolved(fact) then
      emit(log, 'delivered', '', from .. '::' .. owner .. '::' .. hex)
    end
    fact.sv = fact.sv or {}
    local found
    for _, s in ipairs(fact.sv) do
      if s.r == reader then found = s end
    end
    if found and at > found.l then
      found.l, found.n, found.o, found.c, found.b = at, found.n + times, route, cursor, nil
    elseif not found and #fact.sv < most then
      table.insert(fact.sv, { r = reader, o = route, f = first, l = at, n = times, c = cursor })
    end
    redis.call('HSET', KEYS[k], hex, cjson.encode(fact))
  end
  k, a = k + 1, a + 9
end
local last = k + tonumber(ARGV[8]) - 1
for i = k, last do
  local reader, route, seq, at = ARGV[a], ARGV[a + 1], tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local mark = marked(KEYS[i], reader)
  if not mark or (mark.q or 0) < seq then
    put_mark(KEYS[i], reader, mark ~= nil, further(mark, seq, at, route, tonumber(ARGV[10])), tonumber(ARGV[7]))
  end
  a = a + 4
end
for i = last + 1, #KEYS do
  local reader, seq = ARGV[a], tonumber(ARGV[a + 1])
  local mark = marked(KEYS[i], reader)
  if not mark or (mark.g or 0) < seq then
    local is = mark or {}
    is.g = seq
    put_mark(KEYS[i], reader, mark ~= nil, is, tonumber(ARGV[7]))
  end
  a = a + 2
end
return { 'ok' }
