-- task_ack ends pending messages of a queue's mailbox for the agent whose claim
-- is the newest. It works when the store is full.
--
-- KEYS  meta:hash agent:hash mail{inbox:zset body:hash fact:hash box:hash ended:zset} ending:zset expire:zset
--       threads:zset events:stream tickets:zset roles:zset
-- ARGV  now:clock channel mailbox id run role ended_life:number ended_bytes:number max_events messages[from hex]
-- FLAG  allow-oom
-- Returns {"ok", outcome …} or {"superseded"}.
if superseded(agent, run) then return { 'superseded' } end
local log = opened()
local member = redis.call('ZSCORE', roles, role .. ' ' .. id)
local out = { 'ok' }
mail.sum = summing(log)
for _, m in ipairs(messages) do
  local from, hex = m.from, m.hex
  local fact = mail.sum.done[hex] or editable(redis.call('HGET', mail.fact, hex))
  local refused = fact and fact.f == from and unfit(fact, id, member)
  if not fact or fact.f ~= from then
    table.insert(out, 'unknown')
  elseif refused then
    table.insert(out, refused)
  elseif fact.s then
    table.insert(out, 'already')
  else
    end_acked(log, mail, mailbox, hex, fact, ended_life, ended_bytes)
    table.insert(out, 'acked')
  end
end
summed_up(log, mail, mailbox)
return out
