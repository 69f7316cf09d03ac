-- room_post adds to the log of a room, once whatever the number of its members, and
-- gives it to mentioned members as mail.
--
-- KEYS  meta:hash sender:hash rooms:hash room_log:stream members:zset idem:hash idemx:zset rate:zset joined:hash
--       skips:zset expire:zset threads:zset events:stream tickets:zset renamed:hash mentioned[agent:hash inbox:zset
--       body:hash fact:hash box:hash skips:zset]
-- ARGV  now:clock channel from room kind run outside text bytes:number mail_bytes:number durability limit:number
--       field fingerprint window:number key_life:number max_posts:number max_bytes:number message_life:number
--       max_events box_messages:number box_bytes:number share:number cast:flag audience address space_bytes:number
--       barred:flag mentioned[id]
-- USES  keys
-- A post has bytes in the room, and mail_bytes as mail of a member.
-- Returns {"ok", entry id, now, now, members, fact, sent within a minute, why the sender is paused} or {"repeat", entry id, at,
-- now, members, fact, body, sender then}, or one word and what belongs to it: superseded,
-- halted <why>, conflict, no_room, not_member, rate <count>, barred.
local DROP_MOST = 16
local lived = number(meta, 'lived')

local raw = redis.call('HGET', rooms, room)
local row = raw and roomed(raw)
for _, first in ipairs(recalled(lived)) do
  if window == 0 and differs(first) then return { 'conflict' } end
  if window == 0 or now - first.a < window then
    local entry = redis.call('XRANGE', room_log, first.h, first.h)[1]
    local fact, body = '', ''
    if entry then fact, body = entry[2][2], entry[2][4] end
    return { 'repeat', first.h, first.a, now, row and row.m or 0, fact, body, first.by }
  end
end
if superseded(sender, run) then return { 'superseded' } end
if barred then return { 'barred' } end
local halted = redis.call('HGET', meta, 'paused') or ''
if halted ~= '' and from ~= 'human' and from ~= 'system' then return { 'halted', halted } end
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
local drop, freed, over = 0, 0, row.n + 1 > max_posts or row.b + bytes > max_bytes
if over then
  -- Singly, since one is mostly enough and each is read with its body.
  local from_entry = '-'
  repeat
    local entry = redis.call('XRANGE', room_log, from_entry, '+', 'COUNT', 1)[1]
    if not entry then break end
    drop, freed, from_entry = drop + 1, freed + amount(noted(entry[2][2]).z), '(' .. entry[1]
  until drop == DROP_MOST or row.n - drop + 1 <= max_posts and row.b - freed + bytes <= max_bytes
end
local log = opened()
local mail, mailed = {}, {}
for _, one in ipairs(mentioned) do
  one.holds = held(one.box, from)
  if one.id ~= from and redis.call('EXISTS', one.agent) == 1 and redis.call('ZSCORE', members, one.id)
    and notified(one.agent, room) ~= 'none' and not full(one.holds, mail_bytes, box_messages, box_bytes, share, true) and not crowded(log, from, one.id, (#mail + 1) * mail_bytes, space_bytes) then
    table.insert(mail, one)
    table.insert(mailed, one.id)
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
if cast then fact.x = lived + message_life end
local entry, written = whole(seq) .. '-' .. whole(ordinal), cjson.encode(fact)
redis.call('XADD', room_log, entry, 'f', written, 'b', text)
row.q, row.o, row.n, row.b = seq, ordinal, row.n + 1 - drop, row.b + bytes - freed
if row.m == 0 and not cast then row.e = lived end
if drop > 0 then redis.call('XTRIM', room_log, 'MAXLEN', whole(row.n)) end
redis.call('HSET', rooms, room, cjson.encode(row))
remember(address, entry, '', lived)
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
  put(log, m, {
    event = 'accepted', from = from, to = m.id, kind = 'message', thread = '', urgent = false, expects = true,
    body = text, bytes = mail_bytes, durability = durability, answers = '', expires = lived + message_life,
  }, m.holds)
  redis.call('ZADD', m.skips, 0, skipped(room, ordinal))
  redis.call('ZREMRANGEBYLEX', m.skips, '[' .. room .. '\0', kept_from)
end
return { 'ok', entry, now, now, row.m, written, sent + 1, redis.call('HGET', sender, 'paused') or '' }
