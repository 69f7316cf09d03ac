-- note_write writes down what a node learned: who was seen, what was served, which
-- session was told of what. The first reader of a ticket makes it delivered.
--
-- KEYS  seen:zset attached:zset nodes:hash meta:hash events:stream heard:zset calls[agent:hash] served[fact:hash]
--       told[mark:hash] given[mark:hash]
-- ARGV  now:clock max_served:number channel max_events max_marks:number online_window:number max_told:number
--       calls[id ago:number] served[from owner hex reader route at:number cursor:number times:number first:number]
--       told[reader route seq:number at:number] given[reader seq:number]
-- FLAG  allow-oom
-- USES  marks

-- A note is up to a second old: one from before the agent unregistered must
-- not bring it back, a later one must.
local LATE = 2000
local log = opened()
ahead(log)
local lived = number(meta, 'lived')
for _, call in ipairs(calls) do
  local agent, id, ago = call.agent, call.id, call.ago
  local at = now - ago
  local r = redis.call('HMGET', agent, 'seen', 'node', 'gone', 'heartbeat')
  -- Of a call some time ago the store may have heard more since.
  if r[1] and (ago == 0 or at > amount(r[1])) then
    redis.call('HSET', agent, 'seen', whole(at))
    redis.call('ZADD', heard, whole(lived), id)
    local back = r[3] and at - amount(r[3]) > LATE
    -- A dead node has no say, nor has the host that was attached in place of a closed session.
    if r[2] and r[2] ~= '' and (back or not is_attached(r[2], nodes, now)) then
      redis.call('ZREM', attached, r[2] .. ' ' .. id)
      redis.call('HDEL', agent, 'node')
      r[2] = nil
    end
    if back then
      redis.call('HDEL', agent, 'gone')
      r[3] = nil
    end
    if not r[3] and not (r[2] and r[2] ~= '') then redis.call('ZADD', seen, whole(signed(at, r[4], online_window)), id) end
  end
end
for _, note in ipairs(served) do
  local from, hex, at = note.from, note.hex, note.at
  local raw = redis.call('HGET', note.fact, hex)
  local fact = editable(raw)
  if fact and fact.f == from then
    if fact.e and not is_read(fact) and not fact.s and not resolved(fact) then
      emit(log, 'delivered', '', from .. '::' .. note.owner .. '::' .. hex)
    end
    fact.sv = fact.sv or {}
    local found
    for _, s in ipairs(fact.sv) do
      if s.r == note.reader then found = s end
    end
    if found and at > found.l then
      found.l, found.n, found.o, found.c, found.b = at, found.n + note.times, note.route, note.cursor, nil
    elseif not found and #fact.sv < max_served then
      table.insert(fact.sv, { r = note.reader, o = note.route, f = note.first, l = at, n = note.times, c = note.cursor })
    end
    redis.call('HSET', note.fact, hex, cjson.encode(fact))
  end
end
for _, note in ipairs(told) do
  local mark = marked(note.mark, note.reader)
  if not mark or (mark.q or 0) < note.seq then
    put_mark(note.mark, note.reader, mark ~= nil, further(mark, note.seq, note.at, note.route, max_told), max_marks)
  end
end
for _, note in ipairs(given) do
  local mark = marked(note.mark, note.reader)
  if not mark or (mark.g or 0) < note.seq then
    local is = mark or {}
    is.g = note.seq
    put_mark(note.mark, note.reader, mark ~= nil, is, max_marks)
  end
end
return { 'ok' }
