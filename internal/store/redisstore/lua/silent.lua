-- silent records that who has read a question has ended its turn without an
-- answer, and tells who asked, once. It works when the store is full.
--
-- KEYS  meta, agent (who has read it), fact (the mailbox's), expire, threads,
--       events, agent, inbox, body, fact, box (of who asked)
-- ARGV  now, channel, owner, from, hex, most events, agent, run, what who asked is
--       called today or empty if nobody is to be told, notice body, its bytes,
--       message life, durability
-- Returns {"silent"}, {"left"} if there is nothing to say, {"superseded"}, or
-- {"unknown"} if there is nobody of that name to be told.
typed({ 'hash', 'hash', 'hash', 'zset', 'zset', 'stream', 'hash', 'zset', 'hash', 'hash', 'hash' })
local meta, reader, facts, events, asker = KEYS[1], KEYS[2], KEYS[3], KEYS[6], KEYS[7]
local back = { inbox = KEYS[8], body = KEYS[9], fact = KEYS[10], box = KEYS[11], expire = KEYS[4], threads = KEYS[5] }
local now, channel, owner, from, hex, most_events = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local agent, run, to, notice, bytes, life, durability = ARGV[7], ARGV[8], ARGV[9], ARGV[10], tonumber(ARGV[11]), tonumber(ARGV[12]), ARGV[13]

if superseded(reader, run) then return { 'superseded' } end
local fact = editable(redis.call('HGET', facts, hex))
if not fact or fact.f ~= from or not fact.e or fact.c or fact.an or fact.sl then return { 'left' } end
if fact.s and fact.s ~= 'acked' then return { 'left' } end
-- Of a role's message only who holds it, or has acked it, can say so.
if string.sub(owner, 1, 5) == 'role/' and not (fact.cl and fact.cl.b == agent) then return { 'left' } end
if to ~= '' and redis.call('EXISTS', asker) == 0 then return { 'unknown' } end

local lived = number(meta, 'lived')
local log = opened(meta, events, channel, most_events, now)
if to ~= '' then
  -- Who asked knows a question that was handed over by its first id.
  put(log, back, {
    event = 'accepted', from = 'system', to = to, kind = 'notice', thread = unbroken(fact) and fact.t or '', urgent = false, expects = false,
    body = notice, bytes = bytes, durability = durability, answers = fact.o or (from .. '::' .. owner .. '::' .. hex), expires = lived + life,
  })
end
fact.sl = now
redis.call('HSET', facts, hex, cjson.encode(fact))
return { 'silent' }
