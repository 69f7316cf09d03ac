-- send stores a message for an agent and wakes whoever waits for it.
--
-- KEYS  meta, agent (recipient), sender, inbox, body, fact, box (recipient's),
--       idem, idemx, rate (sender's), expire, threads, events, aliases, nodes,
--       tickets, deadlines, flow, flowx, renamed
-- ARGV  see the names below; mailbox is 1 for a person's, queue for a role's
-- Returns {"ok", hex, seq, thread, now, card, {messages, bytes in the inbox,
-- those of the sender, bytes in the space}} or {"repeat", hex, thread, at,
-- now, state, fact, body, card, sender then}, or one word and what belongs to it:
-- superseded, conflict, unknown, moved <id>, away, rate <count>, full <what>,
-- crowded, spent <see flow.lua>, unpaid.
typed({ [4] = 'zset', [5] = 'hash', [9] = 'zset', [11] = 'zset', [12] = 'zset', [16] = 'zset', [17] = 'zset', [18] = 'hash', [19] = 'zset', [20] = 'hash' })
local meta, agent, sender, inbox, body, fact, box = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local idem, idemx, rate, expire, threads, events, aliases, nodes =
  KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local tickets, deadlines, flow, flowx = KEYS[16], KEYS[17], KEYS[18], KEYS[19]
local now, channel, from, to, kind, thread, urgent = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local expects, text, bytes, run, durability = ARGV[8], ARGV[9], tonumber(ARGV[10]), ARGV[11], ARGV[12]
local limit, fail_if_away, alias, mailbox, pause = tonumber(ARGV[13]), ARGV[14], ARGV[15], ARGV[16], ARGV[17]
local field, fingerprint, window, key_life = ARGV[18], ARGV[19], tonumber(ARGV[20]), tonumber(ARGV[21])
local life, most_messages, most_bytes, share = tonumber(ARGV[22]), tonumber(ARGV[23]), tonumber(ARGV[24]), tonumber(ARGV[25])
local most_events, online_window, name_life = ARGV[26], tonumber(ARGV[27]), tonumber(ARGV[28])
local answer_within = tonumber(ARGV[29])
local chain, digest, caps, most_space, key_bytes = ARGV[30], ARGV[31], ARGV[32], tonumber(ARGV[33]), tonumber(ARGV[34])
local lived = number(meta, 'lived')
-- A role has no record and no alias, so perhaps nothing else looks at these.
if mailbox == 'queue' then typed({ [3] = 'hash', [14] = 'hash', [15] = 'hash' }) end

if superseded(sender, run) then return { 'superseded' } end

local recipient = card(agent, nodes, meta, now, online_window)
local known = #recipient[1] > 0
local first, state, stored = remembered({ idem = idem, sender = sender, renamed = KEYS[20], fact = fact },
  from, field, fingerprint, lived, now, window, key_life, to, known)
if first == 'conflict' then return { 'conflict' } end
if first then
  return { 'repeat', first.h, first.t, first.a, now, state, stored or '', redis.call('HGET', body, first.h) or '', recipient, first.by }
end
if ARGV[35] == '1' then return { 'unpaid' } end

if mailbox == '' and not known then return { 'unknown' } end
if alias ~= '' then
  local was = redis.call('HGET', aliases, alias)
  if was then
    local id, at = string.match(was, '^(%S+) (%S+)$')
    if id ~= to and lived - tonumber(at) < name_life then return { 'moved', id } end
  end
end
if fail_if_away == '1' and known then
  local says = redis.call('HMGET', agent, 'availability', 'paused')
  if recipient[3] == 0 or says[1] == 'away' or (says[2] and says[2] ~= '') or recipient[4] ~= '' then return { 'away' } end
end
local sent = -1
if limit > 0 then
  sent = redis.call('ZCOUNT', rate, '(' .. whole(now - 60000), whole(now))
  if sent >= limit then return { 'rate', sent } end
end
local holds = held(box, from)
local full_of = full(holds, bytes, most_messages, most_bytes, share, mailbox ~= '1')
if full_of then return { 'full', full_of } end
local log = opened(meta, events, channel, most_events, now)
if crowded(log, from, to, bytes, most_space) then return { 'crowded' } end
local accounts, spent = reckon(flow, flowx, { from = from, to = to, chain = chain ~= '' and chain or thread, bytes = bytes, digest = digest }, caps, now)
if not accounts then return spent end
local asking = pause ~= '' and redis.call('EXISTS', sender) == 1
local pausing = asking and redis.call('HGET', sender, 'paused') ~= pause

local expires = 0
if mailbox ~= '1' then expires = lived + life end
local deadline = answer_within > 0 and now + answer_within or nil
local hex, id, seq = put(log, { inbox = inbox, body = body, fact = fact, box = box, expire = expire, threads = threads, tickets = tickets }, {
  event = 'accepted', from = from, to = to, kind = kind, thread = thread, urgent = urgent == '1', expects = expects == '1',
  body = text, bytes = bytes, key_bytes = key_bytes, durability = durability, answers = '', expires = expires, deadline = deadline,
  asked_by = expects == '1' and run ~= '' and run or nil,
  chain = chain ~= '' and chain ~= thread and chain or nil,
}, holds)
if thread == '' then thread = id end
remember(idem, idemx, field, fingerprint, to, hex, thread, now, lived + key_life)
charge(flow, flowx, accounts, id, now)
if deadline then redis.call('ZADD', deadlines, whole(deadline), id) end
if limit > 0 then
  redis.call('ZREMRANGEBYSCORE', rate, '-inf', whole(now - 60000))
  redis.call('ZREMRANGEBYSCORE', rate, '(' .. whole(now), '+inf')
  redis.call('ZADD', rate, whole(now), whole(seq))
  redis.call('PEXPIRE', rate, 120000)
end
if alias ~= '' then redis.call('HSET', aliases, alias, to .. ' ' .. whole(lived)) end
if asking then
  local ask = to .. '::' .. hex
  redis.call('HSET', sender, 'asks', ask .. ' ' .. asks(sender, ask))
end
if pausing then
  redis.call('HSET', sender, 'paused', pause)
  emit(log, 'paused', from, '')
  recipient = card(agent, nodes, meta, now, online_window)
end
return { 'ok', hex, seq, thread, now, recipient, { holds.n + 1, holds.b + bytes, holds.sn + 1, holds.sb + bytes, log.bytes },
  spending(accounts), sent + 1 }
