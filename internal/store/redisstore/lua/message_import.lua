-- message_import stores a message of another coordinator under its own number, with
-- its facts. It takes its place behind what is here.
--
-- KEYS  meta:hash agent:hash mail{inbox:zset body:hash fact:hash box:hash ended:zset} ending:zset expire:zset
--       threads:zset tickets:zset deadlines:zset dead:zset owed:zset retired:zset roles:zset imported:hash
--       events:stream
-- ARGV  now:clock channel owner hex origin max_events facts text life:number open later:number mailbox
-- USES  tickets
-- Life is what it has left, 0 if it does not die; open, that its deadline is. After
-- later lived seconds the keys of a recipient that is not registered are looked at.
-- Whose mailbox it is: an agent's if empty, a person's, or a queue.
-- Returns {"imported"}, {"already"}, or {"taken"} if another message has its number.
local fact = cjson.decode(facts)
if redis.call('HEXISTS', imported, origin) == 1 then return { 'already' } end
if redis.call('HEXISTS', mail.fact, hex) == 1 then return { 'taken' } end
local lived, holds = number(meta, 'lived'), held(mail.box, fact.f)
local id = fact.f .. '::' .. owner .. '::' .. hex
local pending = not fact.s

local log = opened()
log.sent = log.sent + 1
if pending then log.pending, log.bytes = log.pending + 1, log.bytes + fact.z end
local seq = emit(log, 'accepted', pending and not fact.qt and owner or '', id, 'sent', whole(log.sent), 'pending', whole(log.pending),
  'pending_bytes', whole(log.bytes))
fact.q = seq
redis.call('HSET', imported, origin, id)
redis.call('HSET', meta, 'imported', whole(number(meta, 'lived')))
if text ~= '' then redis.call('HSET', mail.body, hex, text) end
redis.call('ZADD', threads, 0, threaded(fact.t, seq, id))
enlist(fact, owner, id)
if open == '1' then redis.call('ZADD', deadlines, whole(fact.dl), id) end
if pending then
  redis.call('ZADD', mail.inbox, whole(fact.p and seq or seq + BAND), hex)
  redis.call('HSET', mail.box, 'n', whole(holds.n + 1), 'b', whole(holds.b + fact.z),
    'n:' .. fact.f, whole(holds.sn + 1), 'b:' .. fact.f, whole(holds.sb + fact.z))
  if life > 0 then
    fact.x = lived + life
    redis.call('ZADD', expire, whole(fact.x), id)
  end
else
  fact.l = lived + life
  redis.call('HINCRBY', meta, fact.s, 1)
  if fact.s == 'dead' then
    redis.call('ZADD', dead, whole(seq), id)
    if fact.w == REMOVED then redis.call('ZADD', owed, 0, owing(owner, seq, id)) end
  else
    redis.call('ZADD', mail.ended, whole(seq), hex)
    redis.call('HINCRBY', meta, 'ended_bytes', kept(fact))
    settle(mail, owner)
  end
end
redis.call('HSET', mail.fact, hex, cjson.encode(fact))
-- Whose mail somebody must look after: of a queue without members, and of an
-- agent that is not registered.
if mailbox == '' and redis.call('EXISTS', agent) == 0 then redis.call('ZADD', retired, 'NX', whole(lived + later), owner) end
if mailbox ~= '' and mailbox ~= 'human' then redis.call('ZADD', roles, 0, mailbox .. ' ') end
return { 'imported' }
