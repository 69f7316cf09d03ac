-- letter_revive puts a dead letter back into the inbox of its recipient, with a new
-- life and a new number, and tells its sender once.
--
-- KEYS  meta:hash mail{agent:hash inbox:zset body:hash fact:hash box:hash} expire:zset threads:zset events:stream
--       dead:zset owed:zset back{agent:hash inbox:zset body:hash fact:hash box:hash} tickets:zset
-- ARGV  now:clock channel owner from hex reason message_life:number max_messages:number max_bytes:number
--       max_events notice bytes:number durability mailbox space_bytes:number
-- USES  tickets
-- Back is the sender's. An empty reason is any.
-- Returns {"revived"}, {"left"}, {"unknown"} (no recipient) or {"full", what}.
local raw = redis.call('HGET', mail.fact, hex)
local fact = editable(raw)
if not fact or fact.f ~= from or fact.s ~= 'dead' or (reason ~= '' and fact.w ~= reason) then return { 'left' } end
if mailbox == '' and redis.call('EXISTS', mail.agent) == 0 then return { 'unknown' } end
local holds = held(mail.box, from)
local full_of = full(holds, fact.z, max_messages, max_bytes, 1, false)
if full_of then return { 'full', full_of } end
local log = opened()
if crowded(log, from, owner, fact.z, space_bytes) then return { 'full', 'space' } end
local id = from .. '::' .. owner .. '::' .. hex
local died, lived = redis.call('ZSCORE', dead, id), number(meta, 'lived')
if not died then return { 'left' } end -- its recipient is being renamed

log.pending, log.bytes = log.pending + 1, log.bytes + fact.z
local seq = emit(log, 'redelivered', owner, id, 'pending', whole(log.pending), 'pending_bytes', whole(log.bytes))
redis.call('HINCRBY', meta, 'dead', -1)
unlisted(fact)
fact.q, fact.s, fact.w, fact.n, fact.l, fact.cl, fact.st = seq, nil, nil, nil, nil, nil, nil
-- Who was served before is served again: that it was is still told.
for _, s in ipairs(fact.sv or {}) do s.b = 1 end
if fact.x then
  fact.x = lived + message_life
  redis.call('ZADD', expire, whole(fact.x), id)
end
redis.call('HSET', mail.fact, hex, cjson.encode(fact))
redis.call('ZADD', mail.inbox, whole(fact.p and seq or seq + BAND), hex)
redis.call('ZADD', threads, 0, threaded(fact.t, seq, id))
enlist(fact, owner, id)
redis.call('HSET', mail.box, 'n', whole(holds.n + 1), 'b', whole(holds.b + fact.z),
  'n:' .. from, whole(holds.sn + 1), 'b:' .. from, whole(holds.sb + fact.z))
redis.call('ZREM', dead, id)
redis.call('ZREM', owed, owing(owner, died, id))
if answerable(fact) and redis.call('EXISTS', back.agent) == 1 then
  put(log, back, {
    event = 'accepted', from = 'system', to = from, kind = 'notice', thread = fact.t, urgent = false, expects = false,
    body = notice, bytes = bytes, durability = durability, answers = id, expires = lived + message_life,
  })
end
return { 'revived' }
