-- post adds to the log of a room, once whatever the number of its members, and
-- gives it to mentioned members as mail.
--
-- KEYS  meta, sender, rooms, room, members, idem, idemx, rate, joined, skips
--       (the sender's), expire, threads, events, tickets, renamed, then of each
--       mentioned agent its agent, inbox, body, fact, box and skips
-- ARGV  see the names below, then the ids of the mentioned agents
-- Returns {"ok", entry id, now, now, members, fact, sent within a minute} or {"repeat", entry id, at,
-- now, members, fact, body, sender then}, or one word and what belongs to it: superseded,
-- conflict, no_room, not_member, rate <count>, unpaid.
local MENTIONED, MENTIONS, DROP_MOST = 15, 27, 16
local types = { 'hash', 'hash', 'hash', 'stream', 'zset', 'hash', 'zset', 'zset', 'hash', 'zset', 'zset', 'zset', 'stream', 'zset', 'hash' }
for i = MENTIONED + 1, #KEYS, 6 do
  for j, is in ipairs({ 'hash', 'zset', 'hash', 'hash', 'hash', 'zset' }) do types[i + j - 1] = is end
end
typed(types)
local meta, sender, rooms, posts, members, idem, idemx = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local rate, joined, skips, expire, threads, events = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local now, channel, from, room, kind, run, outside = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local text, durability, limit = ARGV[8], ARGV[10], tonumber(ARGV[11])
local bytes, mail_bytes = string.match(ARGV[9], '^(%d+) (%d+)$') -- in the room, and as mail of a member
bytes, mail_bytes = tonumber(bytes), tonumber(mail_bytes)
local field, fingerprint, window, key_life = ARGV[12], ARGV[13], tonumber(ARGV[14]), tonumber(ARGV[15])
local most_posts, most_bytes, life, most_events = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18]), ARGV[19]
local box_messages, box_bytes, share = tonumber(ARGV[20]), tonumber(ARGV[21]), tonumber(ARGV[22])
local cast, audience, address, most_space = ARGV[23] == '1', ARGV[24], ARGV[25], tonumber(ARGV[26])
local lived = number(meta, 'lived')

if superseded(sender, run) then return { 'superseded' } end
local raw = redis.call('HGET', rooms, room)
local row = raw and roomed(raw)
for _, first in ipairs(recalled({ idem = idem, sender = sender, renamed = KEYS[15] }, from, field, lived, key_life)) do
  if window == 0 and first.p ~= fingerprint then return { 'conflict' } end
  if window == 0 or now - first.a < window then
    local entry = redis.call('XRANGE', posts, first.h, first.h)[1]
    local fact, body = '', ''
    if entry then fact, body = entry[2][2], entry[2][4] end
    return { 'repeat', first.h, first.a, now, row and row.m or 0, fact, body, first.by }
  end
end
if ARGV[27] == '1' then return { 'unpaid' } end
if cast then
  row = row or { m = 0, q = 0, o = 0, n = 0, b = 0 }
elseif not row then
  return { 'no_room' }
end
local member = not cast and redis.call('ZSCORE', members, from)
if not cast and not member and outside ~= '1' then
  return { row.v == 'invite_only' and 'no_room' or 'not_member' }
end
local sent = -1
if limit > 0 then
  sent = redis.call('ZCOUNT', rate, '(' .. whole(now - 60000), whole(now))
  if sent >= limit then return { 'rate', sent } end
end

-- What has to go to make room, oldest first; a step drops only so many.
local drop, freed, over = 0, 0, row.n + 1 > most_posts or row.b + bytes > most_bytes
if over then
  for _, entry in ipairs(redis.call('XRANGE', posts, '-', '+', 'COUNT', DROP_MOST)) do
    if row.n - drop + 1 <= most_posts and row.b - freed + bytes <= most_bytes then break end
    drop, freed = drop + 1, freed + amount(noted(entry[2][2]).z)
  end
end
local log = opened(meta, events, channel, most_events, now)
local mail, mailed = {}, {}
for i = MENTIONS + 1, #ARGV do
  local base = MENTIONED + (i - MENTIONS - 1) * 6
  local k = { inbox = KEYS[base + 2], body = KEYS[base + 3], fact = KEYS[base + 4], box = KEYS[base + 5], skips = KEYS[base + 6],
    expire = expire, threads = threads, tickets = KEYS[14] }
  local holds = held(k.box, from)
  if ARGV[i] ~= from and redis.call('EXISTS', KEYS[base + 1]) == 1 and redis.call('ZSCORE', members, ARGV[i])
    and notified(KEYS[base + 1], room) ~= 'none' and not full(holds, mail_bytes, box_messages, box_bytes, share, true) and not crowded(log, from, ARGV[i], (#mail + 1) * mail_bytes, most_space) then
    table.insert(mail, { k = k, to = ARGV[i], holds = holds })
    table.insert(mailed, ARGV[i])
  end
end
-- Who has read everything has read what it says now, too.
local at
if member then
  at = select(2, seat(redis.call('HGET', joined, room)))
elseif cast then
  local was = redis.call('HGET', sender, 'cast')
  at = was and select(2, seat(was)) or nil
end
local caught_up = at == row.o

local seq, ordinal = log.seq + 1, row.o + 1
local id = from .. '::' .. address .. '::' .. permuted(seq)
local shown = row.v == 'invite_only' and '' or id
if cast then emit(log, 'posted', address, shown, 'casts', whole(ordinal)) else emit(log, 'posted', address, shown) end
local fact = { f = from, k = kind, a = now, d = durability, z = bytes }
if #mailed > 0 then fact.m = mailed end
if audience ~= '' then fact.w = audience end
if cast then fact.x = lived + life end
local entry, written = whole(seq) .. '-' .. whole(ordinal), cjson.encode(fact)
redis.call('XADD', posts, entry, 'f', written, 'b', text)
row.q, row.o, row.n, row.b = seq, ordinal, row.n + 1 - drop, row.b + bytes - freed
if row.m == 0 and not cast then row.e = lived end
if drop > 0 then redis.call('XTRIM', posts, 'MAXLEN', whole(row.n)) end
redis.call('HSET', rooms, room, cjson.encode(row))
remember(idem, idemx, field, fingerprint, address, entry, '', now, lived + key_life)
if limit > 0 then
  redis.call('ZREMRANGEBYSCORE', rate, '-inf', whole(now - 60000))
  redis.call('ZREMRANGEBYSCORE', rate, '(' .. whole(now), '+inf')
  redis.call('ZADD', rate, whole(now), whole(seq))
  redis.call('PEXPIRE', rate, 120000)
end
local kept_from = '(' .. skipped(room, ordinal - row.n + 1)
if caught_up and member then
  redis.call('HSET', joined, room, whole(seq) .. ' ' .. whole(ordinal))
elseif caught_up then
  redis.call('HSET', sender, 'cast', whole(seq) .. ' ' .. whole(ordinal))
elseif at then
  redis.call('ZADD', skips, 0, skipped(room, ordinal))
  redis.call('ZREMRANGEBYLEX', skips, '[' .. room .. '\0', kept_from)
end
for _, m in ipairs(mail) do
  put(log, m.k, {
    event = 'accepted', from = from, to = m.to, kind = 'message', thread = '', urgent = false, expects = true,
    body = text, bytes = mail_bytes, durability = durability, answers = '', expires = lived + life,
  }, m.holds)
  redis.call('ZADD', m.k.skips, 0, skipped(room, ordinal))
  redis.call('ZREMRANGEBYLEX', m.k.skips, '[' .. room .. '\0', kept_from)
end
return { 'ok', entry, now, now, row.m, written, sent + 1 }
