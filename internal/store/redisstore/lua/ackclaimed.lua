-- ackclaimed ends pending messages of a role's mailbox for the agent whose claim
-- is the newest. It works when the store is full.
--
-- KEYS  meta, agent, inbox, body, fact, box, ended (the role's), ending, expire,
--       threads, events, tickets, roles
-- ARGV  now, channel, mailbox, agent, run, role, ended life, ended bytes, most
--       events, then from and hex of each message
-- Returns {"ok", outcome …} or {"superseded"}.
typed({ 'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'stream', 'zset', 'zset' })
local k = { inbox = KEYS[3], body = KEYS[4], fact = KEYS[5], box = KEYS[6], ended = KEYS[7], ending = KEYS[8],
  expire = KEYS[9], threads = KEYS[10], tickets = KEYS[12] }
local now, channel, mailbox, agent, run, role = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local life, budget, most_events = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9]

if superseded(KEYS[2], run) then return { 'superseded' } end
local log = opened(KEYS[1], KEYS[11], channel, most_events, now)
local member = redis.call('ZSCORE', KEYS[13], role .. ' ' .. agent)
local out = { 'ok' }
k.sum = summing(log)
for i = 10, #ARGV, 2 do
  local from, hex = ARGV[i], ARGV[i + 1]
  local fact = k.sum.done[hex] or editable(redis.call('HGET', k.fact, hex))
  local refused = fact and fact.f == from and unfit(fact, agent, member)
  if not fact or fact.f ~= from then
    table.insert(out, 'unknown')
  elseif refused then
    table.insert(out, refused)
  elseif fact.s then
    table.insert(out, 'already')
  else
    end_acked(log, k, mailbox, hex, fact, life, budget)
    table.insert(out, 'acked')
  end
end
summed_up(log, k, mailbox)
return out
