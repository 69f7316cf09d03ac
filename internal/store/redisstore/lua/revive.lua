-- revive puts a dead letter back into the inbox of its recipient, with a new
-- life and a new number, and tells its sender once.
--
-- KEYS  meta, agent, inbox, body, fact, box (recipient's), expire, threads,
--       events, dead, owed, agent, inbox, body, fact, box (sender's),
--       tickets
-- ARGV  now, channel, owner, from, hex, reason (or none: any), message life,
--       messages and bytes of an inbox, most events, notice, its bytes,
--       durability, mailbox, bytes of a space
-- Returns {"revived"}, {"left"}, {"unknown"} (no recipient) or {"full", what}.
typed({ 'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'zset', 'zset', 'stream', 'zset', 'zset',
  'hash', 'zset', 'hash', 'hash', 'hash', 'zset' })
local meta, agent, inbox, body, facts, box = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local expire, threads, events, dead, owed, sender = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local back = { inbox = KEYS[13], body = KEYS[14], fact = KEYS[15], box = KEYS[16], expire = expire, threads = threads }
local now, channel, owner, from, hex, reason = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local life, most_messages, most_bytes, most_events = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10]
local notice, bytes, durability, mailbox = ARGV[11], tonumber(ARGV[12]), ARGV[13], ARGV[14]

local raw = redis.call('HGET', facts, hex)
local fact = editable(raw)
if not fact or fact.f ~= from or fact.s ~= 'dead' or (reason ~= '' and fact.w ~= reason) then return { 'left' } end
if mailbox == '' and redis.call('EXISTS', agent) == 0 then return { 'unknown' } end
local holds = held(box, from)
local full_of = full(holds, fact.z, most_messages, most_bytes, 1, false)
if full_of then return { 'full', full_of } end
local log = opened(meta, events, channel, most_events, now)
if crowded(log, from, owner, fact.z, tonumber(ARGV[15])) then return { 'full', 'space' } end
local id = from .. '::' .. owner .. '::' .. hex
local died, lived = redis.call('ZSCORE', dead, id), number(meta, 'lived')
if not died then return { 'left' } end -- its recipient is being renamed

log.pending, log.bytes = log.pending + 1, log.bytes + fact.z
local seq = emit(log, 'redelivered', owner, id, 'pending', whole(log.pending), 'pending_bytes', whole(log.bytes))
redis.call('HINCRBY', meta, 'dead', -1)
unlisted({ threads = threads, tickets = KEYS[17] }, fact)
fact.q, fact.s, fact.w, fact.n, fact.l, fact.cl = seq, nil, nil, nil, nil, nil
-- Who was served before is served again: that it was is still told.
for _, s in ipairs(fact.sv or {}) do s.b = 1 end
if fact.x then
  fact.x = lived + life
  redis.call('ZADD', expire, whole(fact.x), id)
end
redis.call('HSET', facts, hex, cjson.encode(fact))
redis.call('ZADD', inbox, whole(fact.p and seq or seq + BAND), hex)
redis.call('ZADD', threads, 0, threaded(fact.t, seq, id))
if fact.e then redis.call('ZADD', KEYS[17], whole(seq), id) end
redis.call('HSET', box, 'n', whole(holds.n + 1), 'b', whole(holds.b + fact.z),
  'n:' .. from, whole(holds.sn + 1), 'b:' .. from, whole(holds.sb + fact.z))
redis.call('ZREM', dead, id)
redis.call('ZREM', owed, owing(owner, died, id))
if answerable(fact) and redis.call('EXISTS', sender) == 1 then
  put(log, back, {
    event = 'accepted', from = 'system', to = from, kind = 'notice', thread = fact.t, urgent = false, expects = false,
    body = notice, bytes = bytes, durability = durability, answers = id, expires = lived + life,
  })
end
return { 'revived' }
