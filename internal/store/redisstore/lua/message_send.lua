-- message_send stores a message for an agent and wakes whoever waits for it.
--
-- KEYS  meta agent sender mail{inbox:zset body:hash fact box} idem idemx:zset rate expire:zset threads:zset events
--       aliases nodes tickets deadlines flow flowx renamed files members[agent]
-- ARGV  now:clock channel from to kind thread urgent expects text bytes:number run durability limit:number
--       fail_if_away alias mailbox pause field fingerprint window:number key_life:number message_life:number
--       max_messages:number max_bytes:number share:number max_events online_window:number name_life:number
--       answer_within:number chain digest caps:literal space_bytes:number key_bytes:number barred:flag
--       goes_back attach[] members[id]
-- USES  keys flow files
-- The agent and mail are the recipient's; mailbox is 1 for a person's and "queue" for a queue's,
-- whose card is a list of its members' cards.
-- Returns {"ok", hex, seq, thread, now, card, {messages, bytes in the inbox,
-- those of the sender, bytes in the space}, spending, sent within a minute, why the sender is paused} or {"repeat", hex, thread, at,
-- now, state, fact, body, card, sender then}, or one word and what belongs to it:
-- superseded, halted <why>, conflict <the recipient, if only that differs>, unknown, moved <id>, away, rate <count>, full <what>,
-- crowded, spent <see flow.lua>, barred, no_file <id>.
local log = opened(MAIL)
local lived = log.lived
local by = redis.call('HMGET', sender, 'run', 'seen', 'was', 'paused')
local recipient, known = {}, nil
if mailbox == 'queue' then
  for i, member in ipairs(members) do recipient[i] = addressee(member.agent, nodes, log.paused, now, online_window) end
else
  recipient = addressee(agent, nodes, log.paused, now, online_window)
  known = recipient[1][1]
end
local first, state, stored = remembered(mail.fact, lived, by[3] or '', to, known)
if first == 'conflict' then return { 'conflict', state } end
if first then
  return { 'repeat', first.h, first.t, first.a, now, state, stored or '', redis.call('HGET', mail.body, first.h) or '', recipient, first.by }
end
if supersedes(by[1], by[2], run) then return { 'superseded' } end
if barred then return { 'barred' } end
if log.paused ~= '' and mailbox ~= '1' and from ~= 'human' and from ~= 'system' then return { 'halted', log.paused } end
local carried, missing = attachable(attach)
if not carried then return { 'no_file', missing } end

if mailbox == '' and not known then return { 'unknown' } end
if alias ~= '' then
  local was = redis.call('HGET', aliases, alias)
  if was then
    local id, at = string.match(was, '^(%S+) (%S+)$')
    if id ~= to and lived - tonumber(at) < name_life then return { 'moved', id } end
  end
end
if fail_if_away == '1' and known then
  local is = recipient[1]
  -- Of an agent that is not online its host may be attached, which starts it for a question.
  local starts = recipient[2] == 1 and expects == '1'
  if (recipient[3] == 0 and not starts) or is[5] == 'away' or (is[6] and is[6] ~= '') or recipient[4] ~= '' then return { 'away' } end
end
local sent = -1
if limit > 0 then
  sent = redis.call('ZCOUNT', rate, '(' .. whole(now - 60000), whole(now))
  if sent >= limit then return { 'rate', sent } end
end
local holds = held(mail.box, from)
local full_of = full(holds, bytes, max_messages, max_bytes, share, mailbox ~= '1')
if full_of then return { 'full', full_of } end
if crowded(log, from, to, bytes, space_bytes) then return { 'crowded' } end
local accounts, spent = reckon({ from = from, to = to, chain = chain ~= '' and chain or thread, bytes = bytes, digest = digest })
if not accounts then return spent end
if expects == '1' then redis.call('ZCARD', tickets) end
if answer_within > 0 then redis.call('ZCARD', deadlines) end
local asking = pause ~= '' and redis.call('EXISTS', sender) == 1
local pausing = asking and redis.call('HGET', sender, 'paused') ~= pause

local expires = 0
if mailbox ~= '1' then expires = lived + message_life end
local deadline = answer_within > 0 and now + answer_within or nil
local hex, id, seq = put(log, mail, {
  event = 'accepted', from = from, to = to, kind = kind, thread = thread, urgent = urgent == '1', expects = expects == '1',
  body = text, bytes = bytes, key_bytes = key_bytes, durability = durability, answers = '', expires = expires, deadline = deadline,
  asked_by = expects == '1' and run ~= '' and run or nil,
  chain = chain ~= '' and chain ~= thread and chain or nil, goes_back = goes_back ~= '' and goes_back or nil,
}, holds)
if thread == '' then thread = id end
remember(to, hex, thread, lived)
charge(accounts, id)
attach_to(id, attach, carried)
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
  recipient = addressee(agent, nodes, log.paused, now, online_window)
end
return { 'ok', hex, seq, thread, now, recipient, { holds.n + 1, holds.b + bytes, holds.sn + 1, holds.sb + bytes, log.bytes },
  spending(accounts), sent + 1, by[4] or '' }
