-- message_receive records that a client has taken messages. Answers to the owner's
-- own messages that ask nothing back are acked by it. It works when the store is full.
--
-- KEYS  meta agent:hash mail{inbox:zset body:hash fact box:hash ended:zset} ending:zset expire:zset
--       threads:zset events:stream tickets:zset
-- ARGV  now:clock channel owner reader route ended_life:number ended_bytes:number max_events messages[from hex]
-- FLAG  allow-oom
-- Returns {"ok", outcome …}.
local log = opened()
ahead(log)
local out = { 'ok' }
mail.sum = summing(log)
for _, m in ipairs(messages) do
  local from, hex = m.from, m.hex
  local fact = mail.sum.done[hex] or editable(redis.call('HGET', mail.fact, hex))
  if not fact or fact.f ~= from then
    table.insert(out, 'unknown')
  else
    if fact.e and not is_read(fact) and not fact.s and not resolved(fact) then
      emit(log, 'delivered', '', from .. '::' .. owner .. '::' .. hex)
    end
    fact.rc = fact.rc or { r = reader, o = route, f = now }
    if fact.k == 'reply' and not fact.e and not fact.s then
      end_acked(log, mail, owner, hex, fact, ended_life, ended_bytes)
      table.insert(out, 'acked')
    else
      redis.call('HSET', mail.fact, hex, cjson.encode(fact))
      table.insert(out, 'already')
    end
  end
end
summed_up(log, mail, owner)
return out
