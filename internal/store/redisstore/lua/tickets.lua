-- tickets is put in front of the steps that end tickets or list them again. They are
-- listed by their number, those that have ended by its negative: so the open ones
-- are read without them.
--
-- KEYS  tickets
-- ARGV  now

-- closed puts a ticket that has ended among those that have, by the negative of its
-- number. It keeps the id it is listed by.
local function closed(fact)
  if not fact.e then return end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', tickets, whole(fact.q), whole(fact.q))) do
    redis.call('ZADD', tickets, whole(-fact.q), id)
  end
end

-- enlist puts a message that comes back, or from elsewhere, among the tickets if it
-- expects an answer: the open ones, or those that have ended. A person's deadline
-- is a reminder.
local function enlist(fact, owner, id)
  if not fact.e then return end
  local lapsed = fact.dl and fact.dl <= now and owner ~= 'human'
  local ended = fact.c or fact.s == 'dead' or lapsed or resolved(fact)
  redis.call('ZADD', tickets, whole(ended and -fact.q or fact.q), id)
end
