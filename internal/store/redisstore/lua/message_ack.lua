-- message_ack ends pending messages of one inbox. It works when the store is full.
--
-- KEYS  meta agent mail{inbox:zset body:hash fact box:hash ended:zset} ending:zset expire:zset
--       threads:zset events:stream tickets:zset
-- ARGV  now:clock channel owner run ended_life:number ended_bytes:number max_events messages[from hex]
-- FLAG  allow-oom
-- Returns {"ok", outcome …} or {"superseded"}.
if superseded(agent, run) then return { 'superseded' } end
local log = opened()
local out = { 'ok' }
mail.sum = summing(log)
for _, m in ipairs(messages) do
  local from, hex = m.from, m.hex
  local raw = redis.call('HGET', mail.fact, hex)
  local fact = mail.sum.done[hex] or editable(raw)
  if not fact or fact.f ~= from then
    table.insert(out, 'unknown')
  elseif fact.s then
    table.insert(out, 'already')
  else
    end_acked(log, mail, owner, hex, fact, ended_life, ended_bytes, raw)
    table.insert(out, 'acked')
  end
end
summed_up(log, mail, owner)
return out
