-- received records that a client has taken messages. Answers to the owner's
-- own messages that ask nothing back are acked by it. It works when the store is full.
--
-- KEYS  as ack
-- ARGV  now, channel, owner, reader, route, ended life, ended bytes, most
--       events, then from and hex of each message
-- Returns {"ok", outcome …}.
typed({ 'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'stream', 'zset' })
local k = { inbox = KEYS[3], body = KEYS[4], fact = KEYS[5], box = KEYS[6], ended = KEYS[7], ending = KEYS[8],
  expire = KEYS[9], threads = KEYS[10], tickets = KEYS[12] }
local now, channel, owner, reader, route = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local life, budget, most_events = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]

local log = opened(KEYS[1], KEYS[11], channel, most_events, now)
ahead(log)
local out = { 'ok' }
k.sum = summing(log)
for i = 9, #ARGV, 2 do
  local from, hex = ARGV[i], ARGV[i + 1]
  local fact = k.sum.done[hex] or editable(redis.call('HGET', k.fact, hex))
  if not fact or fact.f ~= from then
    table.insert(out, 'unknown')
  else
    if fact.e and not is_read(fact) and not fact.s and not resolved(fact) then
      emit(log, 'delivered', '', from .. '::' .. owner .. '::' .. hex)
    end
    fact.rc = fact.rc or { r = reader, o = route, f = now }
    if fact.k == 'reply' and not fact.e and not fact.s then
      end_acked(log, k, owner, hex, fact, life, budget)
      table.insert(out, 'acked')
    else
      redis.call('HSET', k.fact, hex, cjson.encode(fact))
      table.insert(out, 'already')
    end
  end
end
summed_up(log, k, owner)
return out
