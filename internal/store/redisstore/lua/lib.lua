-- lib is put in front of every script. It holds what several steps share.
-- A script first checks, then writes; nothing after its first write can fail. The
-- keys whose types its head says are looked at before it starts, by their lengths,
-- which is cheapest. A key that is read before the first write needs no type: to read
-- it fails as well.
--
-- KEYS  meta events ending expire threads tickets
-- ARGV  now channel max_events

local BAND = 4503599627370496 -- 2^52: normal mail reads after urgent mail

-- set_of is a list of words in which each can be looked up.
local function set_of(words)
  local set = {}
  for _, word in ipairs(words) do set[word] = true end
  return set
end

-- NODE is the coordinator that takes the step; its events say so.
local NODE = ''

-- clock is Redis TIME in milliseconds, unless a test passed one in. It is given
-- "node@milliseconds", either of which may be missing.
local function clock(given)
  if string.byte(given, -1) == 64 then -- "@"
    NODE = string.sub(given, 1, -2)
    local t = redis.call('TIME')
    return t[1] * 1000 + math.floor(t[2] / 1000)
  end
  local node, at = string.match(given, '^(.-)@(%d*)$')
  NODE = node
  return tonumber(at)
end

-- WHOLE is how the engine writes a whole number: by its longest integer, if that has
-- 64 bits.
local function whole(n) return string.format(WHOLE, n) end

-- quoted is a text as JSON.
local function quoted(text)
  if string.find(text, '[%c"\\\127-\255]') then return cjson.encode(text) end
  return '"' .. text .. '"'
end

-- A number that is damaged is refused where a step begins, or taken for 0 where
-- it can do no harm: after its first write a step cannot fail. counted_as refuses,
-- amount does not.
local function counted_as(text, what)
  if not text then return 0 end
  if #text > 16 or not string.find(text, '^%-?%d+$') then error({ err = 'DAMAGED ' .. what .. ' is no number' }) end
  return tonumber(text)
end
local function amount(text) return tonumber(text or 0) or 0 end

local function number(key, field) return counted_as(redis.call('HGET', key, field), field) end

local function epoch_of(meta) return tonumber(redis.call('HGET', meta, 'epoch') or 1) end

-- place is where a reader goes on from. A number from before this epoch may be
-- one of those the store has forgotten, so it means nothing.
local function place(meta, min)
  if min < number(meta, 'began') then return 0 end
  return min
end

-- permuted is MessageHex: four rounds over the two halves of a number.
local function permuted(n)
  local left, right = math.floor(n / 65536) % 65536, n % 65536
  local bxor, floor = bit.bxor, math.floor
  left, right = right, bxor(left, (right * 0x9E37 + 0x3C6E + floor(right / 128)) % 65536)
  left, right = right, bxor(left, (right * 0x79B9 + 0x3C6E + floor(right / 128)) % 65536)
  left, right = right, bxor(left, (right * 0x7F4A + 0x3C6E + floor(right / 128)) % 65536)
  left, right = right, bxor(left, (right * 0x7C15 + 0x3C6E + floor(right / 128)) % 65536)
  return string.format('%08x', left * 65536 + right)
end

-- BOOKS are all numbers of a space that a step may count up or down; MAIL are those of
-- them that a new message changes or reads.
local MAIL = { 'seq', 'sent', 'pending', 'pending_bytes', 'lived' }
local BOOKS = { 'seq', 'sent', 'pending', 'pending_bytes', 'lived', 'ended_bytes', 'acked', 'cancelled', 'dead', 'registrations', 'agents', 'casts' }

-- A log gives events their numbers, keeps them and wakes who listens. Its
-- first emit can fail (and nothing has changed then); later ones cannot. It also
-- holds those of the space's books that every message changes, and why the space is
-- paused. A step that counts no others opens only MAIL.
local function opened(names)
  names = names or BOOKS
  local books = redis.call('HMGET', meta, 'paused', unpack(names))
  for i = 1, #names do books[i + 1] = counted_as(books[i + 1], names[i]) end
  return { meta = meta, events = events, channel = channel, most = max_events, now = now, paused = books[1] or '',
    seq = books[2], sent = books[3], pending = books[4], bytes = books[5], lived = books[6], ended = books[7], acked = books[8] }
end

-- ahead refuses a sequence that is behind its own events, for a step that writes
-- before its first emit.
local function ahead(log)
  local last = redis.call('XREVRANGE', log.events, '+', '-', 'COUNT', 1)[1]
  if log.seq < 0 or last and tonumber(string.match(last[1], '^%d+')) > log.seq then error({ err = 'DAMAGED seq is behind the events' }) end
end

-- emit takes further fields of meta that change with the event, and their values.
-- Of many events in one step only the last number is written, by summed_up.
local function emit(log, kind, agent, id, ...)
  log.seq = log.seq + 1
  log.at = log.at or whole(log.now)
  local seq = whole(log.seq)
  redis.call('XADD', log.events, 'MAXLEN', '~', log.most, seq .. '-0', 'k', kind, 'a', agent, 'i', id, 't', log.at, 'n', NODE)
  if not log.many then redis.call('HSET', log.meta, 'seq', seq, ...) end
  redis.call('SPUBLISH', log.channel, seq .. ' ' .. agent)
  return log.seq
end

-- numbered skips sequence numbers whose hex the recipient already has.
local function numbered(log, fact)
  local hex = permuted(log.seq + 1)
  while redis.call('HEXISTS', fact, hex) == 1 do
    log.seq = log.seq + 1
    hex = permuted(log.seq + 1)
  end
  return hex
end

-- threaded is a message's place in its thread. The length in front keeps the
-- entries of one thread together, whatever other threads are called.
local function threaded(thread, seq, id)
  return #thread .. ':' .. thread .. '\0' .. string.format('%016.0f', seq) .. '\0' .. id
end

-- REMOVED letters are delivered again by themselves when their recipient is
-- back. owing is such a letter's place in the list of what is owed to it: in
-- the order they died.
local REMOVED = 'recipient_removed'
local function owing(owner, died, id) return owner .. '\0' .. string.format('%016.0f', tonumber(died)) .. '\0' .. id end

-- answerable: word about what became of this message goes to its sender. What
-- the system wrote has none that waits for it.
local function answerable(fact) return fact.k ~= 'bounce' and fact.k ~= 'notice' end

-- Redis keeps no checksums of what it writes to its disk, so a message carries its
-- own: one over its body, made in Go, and the seal over those of its facts that
-- never change. facts.go makes the same and compares.
local function seal(fact)
  local lasting = { fact.f, fact.t, fact.k, fact.p or '', fact.e or '', whole(fact.a), fact.d, whole(fact.z), fact.r or '',
    fact.o or '', fact.b or '', fact.qt or '', fact.dl and whole(fact.dl) or '', fact.g }
  return string.sub(redis.sha1hex(table.concat(lasting, '\n')), 1, 8)
end

-- unbroken says that the seal of facts, if they have one, is theirs.
local function unbroken(fact)
  local made, is = pcall(seal, fact)
  return not fact.h or (made and is == fact.h)
end

-- legible reads the facts of a message; nil if there are none, or if they are
-- damaged beyond reading: such a message is in nobody's way.
local function countable(n) return type(n) == 'number' and n >= 0 and n == math.floor(n) end

-- SHAPE is what those facts are that a message need not have.
local SHAPE = { a = 'number', d = 'string', k = 'string', p = 'string', e = 'number', ch = 'string', qt = 'number', r = 'string', dl = 'number',
  o = 'string', b = 'string', u = 'string', x = 'number', h = 'string', s = 'string', w = 'string', n = 'number', l = 'number', c = 'number', sl = 'number', g = 'string',
  st = 'number', ts = 'number', tq = 'number' }
local ROWS = { sv = { l = 'number', n = 'number', r = 'string' }, an = { h = 'string' }, nt = { n = 'number', u = 'number' },
  us = { r = 'string', b = 'string', i = 'number', o = 'number', c = 'number', w = 'number', m = 'number' } }
local function shaped(fact)
  for name, value in pairs(fact) do
    local is, has = SHAPE[name], ROWS[name]
    if is and type(value) ~= is then return false end
    if has then
      if type(value) ~= 'table' then return false end
      for _, row in pairs(value) do
        if type(row) ~= 'table' then return false end
        for field, kind in pairs(has) do
          if type(row[field]) ~= kind then return false end
        end
      end
    end
  end
  local claim = fact.cl
  return claim == nil or type(claim) == 'table' and type(claim.b) == 'string' and type(claim.a) == 'number' and (claim.x == nil or claim.x == 1)
end

local function legible(raw)
  if not raw then return nil end
  local read, fact = pcall(cjson.decode, raw)
  if read and type(fact) == 'table' and type(fact.f) == 'string' and type(fact.t) == 'string'
    and countable(fact.q) and countable(fact.z) then
    return fact
  end
  return nil
end

-- editable is legible for a step that changes the facts. Reads, which look at
-- many, do without.
local function editable(raw)
  local fact = legible(raw)
  return fact and shaped(fact) and fact or nil
end

-- standing gives the facts of a message that stands in an inbox by its number. If
-- they are damaged it gives none, and whoever reads the message sees that.
local function standing(raw, seq)
  local fact = legible(raw)
  if fact and fact.q == seq then return raw, fact end
  return '', { q = seq, z = 0 }
end

-- facts_of reads the facts of rows of an inbox, which are members and positions,
-- at once; false for one that has none.
local function facts_of(key, rows)
  local hexes = {}
  for i = 1, #rows, 2 do table.insert(hexes, rows[i]) end
  if #hexes == 0 then return hexes end
  return redis.call('HMGET', key, unpack(hexes))
end

-- held is what a box holds in all and of one sender: messages, bytes, messages
-- and bytes of the sender.
local function held(box, from)
  local is = redis.call('HMGET', box, 'n', 'b', 'n:' .. from, 'b:' .. from)
  return { n = amount(is[1]), b = amount(is[2]), sn = amount(is[3]), sb = amount(is[4]) }
end

-- put stores a message m in the box of its recipient; k names the keys, and
-- holds is what the box holds, if it was read already. Everything was checked
-- before. A message that expects an answer is a ticket and needs tickets.
local function put(log, k, m, holds)
  holds = holds or held(k.box, m.from)
  local hex = numbered(log, k.fact)
  local id = m.from .. '::' .. m.to .. '::' .. hex
  log.sent, log.pending, log.bytes = log.sent + 1, log.pending + 1, log.bytes + m.bytes
  local seq = emit(log, m.event, m.quiet and '' or m.to, id, 'sent', whole(log.sent), 'pending', whole(log.pending),
    'pending_bytes', whole(log.bytes))
  if m.thread == '' then m.thread = id end
  local position = seq
  if not m.urgent then position = seq + BAND end
  local number, bytes, thread, kind = whole(seq), whole(m.bytes), m.thread, m.kind or ''
  local answers, ticket, handed = m.answers, m.ticket or '', m.handed_by or ''
  local deadline = m.deadline and whole(m.deadline) or ''
  -- What seal makes of these facts. Names and kinds come from Go, but for those of a message that is handed on.
  local sealed = redis.sha1hex(m.from .. '\n' .. thread .. '\n' .. kind .. '\n' .. (m.urgent and 'urgent' or '') .. '\n' .. (m.expects and '1' or '')
    .. '\n' .. log.at .. '\n' .. m.durability .. '\n' .. bytes .. '\n' .. answers .. '\n' .. ticket .. '\n' .. handed .. '\n'
    .. (m.quiet and '1' or '') .. '\n' .. deadline .. (m.goes_back and '\n' .. m.goes_back or ''))
  local fact = '{"q":' .. number .. ',"f":' .. (m.ticket and quoted(m.from) or '"' .. m.from .. '"')
    .. ',"t":' .. (thread == id and '"' .. id .. '"' or quoted(thread)) .. ',"k":' .. (m.ticket and quoted(kind) or '"' .. kind .. '"') .. ',"a":' .. log.at .. ',"d":"' .. m.durability
    .. '","z":' .. bytes .. ',"h":"' .. string.sub(sealed, 1, 8) .. '"'
    .. (m.key_bytes and m.key_bytes > 0 and ',"y":' .. whole(m.key_bytes) or '')
    .. (m.urgent and ',"p":"urgent"' or '') .. (m.expects and ',"e":1' or '') .. (m.quiet and ',"qt":1' or '')
    .. (m.chain and ',"ch":' .. quoted(m.chain) or '') .. (answers ~= '' and ',"r":' .. quoted(answers) or '')
    .. (m.deadline and ',"dl":' .. deadline or '') .. (m.ticket and ',"o":' .. quoted(ticket) or '') .. (m.handed_by and ',"b":' .. quoted(handed) or '')
    .. (m.asked_by and ',"u":' .. quoted(m.asked_by) or '') .. (m.goes_back and ',"g":' .. quoted(m.goes_back) or '')
  if m.expects then redis.call('ZADD', tickets, number, id) end
  if m.expires > 0 then
    local expires = whole(m.expires)
    fact = fact .. ',"x":' .. expires
    redis.call('ZADD', expire, expires, id)
  end
  redis.call('HSET', k.body, hex, m.body)
  redis.call('HSET', k.fact, hex, fact .. '}')
  redis.call('ZADD', k.inbox, whole(position), hex)
  redis.call('ZADD', threads, 0, threaded(m.thread, seq, id))
  redis.call('HSET', k.box, 'n', whole(holds.n + 1), 'b', whole(holds.b + m.bytes),
    'n:' .. m.from, whole(holds.sn + 1), 'b:' .. m.from, whole(holds.sb + m.bytes))
  return hex, id, seq
end

-- full says what a box is full of, or nil. Shared boxes guard each sender's share.
local function full(holds, bytes, messages, most, share, guarded)
  if holds.n + 1 > messages then return 'messages' end
  if holds.b + bytes > most then return 'bytes' end
  if guarded then
    if holds.sn + 1 > math.floor(messages / share) then return 'sender' end
    if holds.sb + bytes > math.floor(most / share) then return 'sender_size' end
  end
  return nil
end

-- crowded says that a space has no room for so many more bytes of unacked mail.
-- What a person or the system writes, and what is written to a person, always
-- has a place: it is how a full space is noticed.
local function crowded(log, from, to, more, most)
  if most == 0 or more <= 0 or from == 'human' or from == 'system' or to == 'human' then return false end
  return log.bytes + more > most
end

-- A sum is what acking several messages of one box changes, so that each key is
-- changed once, by summed_up. It stands in k.sum; done are the facts of those that
-- were acked, which nobody finds in the box yet.
local function summing(log)
  log.many = log.seq
  return { n = 0, b = 0, senders = {}, ended = 0, lived = log.lived, held = log.ended,
    done = {}, hexes = {}, ids = {}, facts = {}, places = {} }
end

-- moved writes down which messages of a sum have left the box.
local function moved(k)
  local sum = k.sum
  if #sum.hexes == 0 then return end
  redis.call('ZREM', k.inbox, unpack(sum.hexes))
  redis.call('ZREM', expire, unpack(sum.ids))
  redis.call('HSET', k.fact, unpack(sum.facts))
  redis.call('ZADD', k.ended, unpack(sum.places))
  sum.hexes, sum.ids, sum.facts, sum.places = {}, {}, {}, {}
end

-- lightened takes messages of one sender off the books of a box; an empty one has
-- none. Whether it is empty its books say: in a cluster, while the slot moves, a
-- script that asks for a key that it has just emptied fails in the middle.
local function lightened(k, from, n, bytes)
  local holds = held(k.box, from)
  if holds.n - n <= 0 then
    redis.call('DEL', k.box)
    return
  end
  local left, none = { 'n', whole(holds.n - n), 'b', whole(holds.b - bytes) }, {}
  for field, of in pairs({ ['n:'] = holds.sn - n, ['b:'] = holds.sb - bytes }) do
    if of <= 0 then
      none[#none + 1] = field .. from
    else
      left[#left + 1], left[#left + 2] = field .. from, whole(of)
    end
  end
  redis.call('HSET', k.box, unpack(left))
  if #none > 0 then redis.call('HDEL', k.box, unpack(none)) end
end

-- taken removes a pending message from its box and its clocks.
local function taken(log, k, owner, hex, fact)
  if k.sum then
    local sum = k.sum
    table.insert(sum.hexes, hex)
    table.insert(sum.ids, fact.f .. '::' .. owner .. '::' .. hex)
    sum.senders[fact.f] = sum.senders[fact.f] or { n = 0, b = 0 }
    for _, of in ipairs({ sum, sum.senders[fact.f] }) do of.n, of.b = of.n + 1, of.b + fact.z end
    return
  end
  redis.call('ZREM', k.inbox, hex)
  redis.call('ZREM', expire, fact.f .. '::' .. owner .. '::' .. hex)
  lightened(k, fact.f, 1, fact.z)
  local less = 0 - fact.z -- which is never "-0"
  log.pending = redis.call('HINCRBY', log.meta, 'pending', -1)
  log.bytes = redis.call('HINCRBY', log.meta, 'pending_bytes', less)
end

-- kept is what a message weighs once it has ended: its idempotency key, which
-- its sender was charged for, is forgotten before it is.
local function kept(fact) return math.max(0, fact.z - (countable(fact.y) and fact.y or 0)) end

-- moving says that an agent was renamed, and that what is listed by the ids of its
-- mail has yet to follow.
local function moving(meta, old)
  return string.find('\n' .. (redis.call('HGET', meta, 'moving') or ''), '\n' .. old .. ' ', 1, true)
end

-- unlisted takes a message out of its thread and from among the tickets. There
-- it has the id it came with, perhaps by a former name of its recipient; its number
-- is its own.
local function unlisted(fact)
  local place = threaded(fact.t, fact.q, '')
  redis.call('ZREMRANGEBYLEX', threads, '[' .. place, '(' .. string.sub(place, 1, -2) .. '\1')
  if fact.e then
    for _, at in ipairs({ whole(fact.q), whole(-fact.q) }) do redis.call('ZREMRANGEBYSCORE', tickets, at, at) end
  end
end

-- forget drops a message that has ended, with its places in the thread and
-- among the tickets, and gives its bytes. Where it had those, damaged facts do
-- not say.
local function forget(k, hex, fact)
  redis.call('HDEL', k.body, hex)
  redis.call('HDEL', k.fact, hex)
  if not fact then return 0 end
  unlisted(fact)
  return kept(fact)
end

-- resolved says that a ticket has an answer; one that hands it over is none.
local function resolved(fact)
  for _, answer in ipairs(fact.an or {}) do
    if not answer.m then return true end
  end
  return false
end

-- is_read says that somebody is known to have had the text of a message.
local function is_read(fact) return fact.sv or fact.rc or fact.s == 'acked' end

-- settle keeps the index of owners with ended mail, by their oldest.
local function settle(k, owner)
  local first = redis.call('ZRANGE', k.ended, 0, 0, 'WITHSCORES')
  if first[1] then
    redis.call('ZADD', ending, first[2], owner)
  else
    redis.call('ZREM', ending, owner)
  end
end

-- end_as ends a pending message in a state that is also the name of its count
-- and of its event, and forgets up to two of the owner's oldest ended messages
-- while the space holds too many bytes of them. raw are the facts as they are stored, if
-- the step has changed none: adding the end to them takes a tenth of writing all anew.
local function end_as(log, k, state, agent, owner, hex, fact, life, budget, raw)
  local seq = emit(log, state, agent, fact.f .. '::' .. owner .. '::' .. hex)
  taken(log, k, owner, hex, fact)
  local sum = k.sum
  local added = raw and not fact.n and not fact.l and string.sub(raw, -1) == '}'
  fact.s, fact.n, fact.l = state, log.now, log.lived + life
  local written = added and string.sub(raw, 1, -2) .. ',"s":"' .. state .. '","n":' .. log.at .. ',"l":' .. whole(fact.l) .. '}' or cjson.encode(fact)
  if sum then
    sum.done[hex] = fact
    for _, word in ipairs({ hex, written }) do table.insert(sum.facts, word) end
    for _, word in ipairs({ whole(seq), hex }) do table.insert(sum.places, word) end
  else
    redis.call('HSET', k.fact, hex, written)
    redis.call('ZADD', k.ended, whole(seq), hex)
  end
  local function grown(by)
    if not sum then return redis.call('HINCRBY', log.meta, 'ended_bytes', by) end
    sum.ended, sum.held = sum.ended + by, sum.held + by
    return sum.held
  end
  if not sum then redis.call('HINCRBY', log.meta, state, 1) end
  local held = grown(kept(fact))
  if sum and held > budget then moved(k) end
  for _ = 1, 2 do
    if held <= budget then break end
    local oldest = redis.call('ZRANGE', k.ended, 0, 0)[1]
    if not oldest then break end
    local freed = forget(k, oldest, legible(redis.call('HGET', k.fact, oldest)))
    redis.call('ZREM', k.ended, oldest)
    if sum then sum.done[oldest] = nil end
    held = grown(0 - freed)
  end
  if not sum then settle(k, owner) end
end

local function end_acked(log, k, owner, hex, fact, life, budget, raw)
  end_as(log, k, 'acked', '', owner, hex, fact, life, budget, raw)
end

-- summed_up writes down what the messages that were acked change in the books.
local function summed_up(log, k, owner)
  local sum = k.sum
  if sum.n == 0 then
    if log.seq > log.many then redis.call('HSET', log.meta, 'seq', whole(log.seq)) end
    return
  end
  moved(k)
  for from, is in pairs(sum.senders) do lightened(k, from, is.n, is.b) end
  redis.call('HSET', log.meta, 'seq', whole(log.seq),
    'pending', whole(log.pending - sum.n),
    'pending_bytes', whole(log.bytes - sum.b),
    'acked', whole(log.acked + sum.n),
    'ended_bytes', whole(log.ended + sum.ended))
  settle(k, owner)
end

-- is_attached says whether a live node holds a connection of the agent.
local function is_attached(node, nodes, now)
  return node and node ~= '' and amount(redis.call('HGET', nodes, node)) > now
end

-- lasting is for how long after a call an agent counts as online: three of the
-- intervals it declared, in seconds, else the window. signed is a sign of life as
-- the list of all has it: moved, so that one window holds for all.
local BEATS = 3
local function lasting(heartbeat, window)
  local beat = amount(heartbeat)
  return beat > 0 and BEATS * beat * 1000 or window
end
local function signed(at, heartbeat, window) return at + lasting(heartbeat, window) - window end

-- present: attached; or, for an agent no node claims, seen within the window.
-- An agent whose node has died is offline until it is seen again.
local function present(gone, node, seen, heartbeat, nodes, now, window)
  if gone then return false end
  if node and node ~= '' then return is_attached(node, nodes, now) end
  return now - amount(seen) < lasting(heartbeat, window)
end

local function online(agent, nodes, now, window)
  local r = redis.call('HMGET', agent, 'gone', 'node', 'seen', 'heartbeat')
  return present(r[1], r[2], r[3], r[4], nodes, now, window)
end

-- superseded: another run holds the id, or nobody does any more because the
-- agent was renamed or retired. Anonymous callers and anonymous holders never
-- collide.
local function supersedes(holder, seen, run)
  return run ~= '' and (not seen or holder and holder ~= '' and holder ~= run)
end

local function superseded(agent, run)
  if run == '' then return false end
  local r = redis.call('HMGET', agent, 'run', 'seen')
  return supersedes(r[1], r[2], run)
end

-- card is an agent's record as it goes back to Go: its fields, then whether it
-- is attached and online, why the whole space is paused, and whether it is out of quota.
local function card(agent, nodes, meta, now, window)
  local fields, is = redis.call('HGETALL', agent), {}
  for i = 1, #fields, 2 do is[fields[i]] = fields[i + 1] end
  return { fields, is_attached(is.node, nodes, now) and 1 or 0, present(is.gone, is.node, is.seen, is.heartbeat, nodes, now, window) and 1 or 0,
    redis.call('HGET', meta, 'paused') or '', amount(is.quota_until) > now and 1 or 0 }
end

-- addressee is what a receipt says of a recipient, in the order of toldFields in Go, and as
-- in a card. Nobody is registered if there is no first field.
local function addressee(agent, nodes, paused, now, window)
  local is = redis.call('HMGET', agent, 'seen', 'node', 'gone', 'heartbeat', 'availability', 'paused', 'cut', 'state', 'state_at', 'pid', 'pid_start',
    'capabilities', 'quota_until', 'quota')
  local attached = is_attached(is[2], nodes, now)
  local online = attached
  if is[3] then
    online = false
  elseif not is[2] or is[2] == '' then
    online = now - amount(is[1]) < lasting(is[4], window)
  end
  return { is, attached and 1 or 0, online and 1 or 0, paused, amount(is[13]) > now and 1 or 0 }
end

-- asks are the open questions an agent waits for a person with. relieve takes
-- one away; who has no other and waits goes on: it reports whether it does.
local function asks(agent, ask)
  local rest = {}
  for one in string.gmatch(redis.call('HGET', agent, 'asks') or '', '%S+') do
    if one ~= ask then table.insert(rest, one) end
  end
  return table.concat(rest, ' ')
end

local function relieve(log, agent, id, ask)
  local rest = asks(agent, ask)
  if rest ~= '' then
    redis.call('HSET', agent, 'asks', rest)
    return false
  end
  redis.call('HDEL', agent, 'asks')
  if redis.call('HGET', agent, 'paused') ~= 'waiting_for_human' then return false end
  redis.call('HDEL', agent, 'paused')
  emit(log, 'resumed', id, '')
  return true
end

-- lives makes a function that says whether a claim still holds: it was not released, the
-- agent is registered, and its last sign of life or the claim itself is not too old. The
-- nodes are read once, when a claim of an attached agent first asks, and so is
-- each agent: one can hold a whole mailbox.
local function lives(seen, attachments, nodes, now, lease)
  local names, signs = nil, {}
  local function last_sign(id)
    local at = redis.call('ZSCORE', seen, id)
    if not at or tonumber(at) == 0 then return false end
    if at ~= 'inf' then return tonumber(at) end
    names = names or redis.call('HKEYS', nodes)
    for _, node in ipairs(names) do
      if is_attached(node, nodes, now) and redis.call('ZSCORE', attachments, node .. ' ' .. id) then return now end
    end
    return 0
  end
  return function(claim)
    if claim.x then return false end
    if signs[claim.b] == nil then signs[claim.b] = last_sign(claim.b) end
    local at = signs[claim.b]
    return at and now - math.max(at, claim.a) < lease
  end
end

-- unfit says why an agent may not end a message of a queue; nil if it may. One that was
-- released is its holder's, and everybody's.
local function unfit(fact, agent, member)
  if fact.cl and (fact.cl.b == agent or not fact.cl.x) then return fact.cl.b ~= agent and 'stale' or nil end
  if not member or fact.f == agent then return 'not_yours' end
  return nil
end
