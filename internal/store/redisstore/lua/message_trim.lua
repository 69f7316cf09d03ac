-- message_trim forgets ended messages of one owner, oldest first: those past their
-- life, and while the space holds too many bytes, those older than the oldest
-- of any other owner. When Redis is full, its memory sets how many are too many.
--
-- KEYS  meta:hash mail{body:hash fact:hash ended:zset} ending:zset threads:zset tickets:zset
-- ARGV  owner limit:number ended_bytes:number bound per_cent:number
-- FLAG  allow-oom
-- Bound is the number of the next owner's oldest, or "inf"; per_cent, how much of its
-- memory Redis may use, 0 for as much as it can.
-- Returns {"ok", forgotten, the lived second at which the life of the first one left ends; 0 if unknown}.
bound = bound == 'inf' and math.huge or tonumber(bound)
local lived, held, forgotten, ends = number(meta, 'lived'), number(meta, 'ended_bytes'), 0, 0
if per_cent > 0 then
  -- What scripts left behind counts as used and needs no mail to go. Who may not
  -- ask how much is used makes no room.
  collectgarbage()
  local said = redis.pcall('INFO', 'memory')
  said = type(said) == 'string' and said or ''
  local used, most = amount(string.match(said, '\nused_memory:(%d+)')), amount(string.match(said, '\nmaxmemory:(%d+)'))
  if most > 0 then ended_bytes = math.min(ended_bytes, held - math.max(0, used - most * per_cent / 100)) end
end
local rows = redis.call('ZRANGE', mail.ended, 0, limit - 1, 'WITHSCORES')
for i = 1, #rows, 2 do
  local hex, seq = rows[i], tonumber(rows[i + 1])
  local fact = editable(redis.call('HGET', mail.fact, hex))
  if fact and (fact.l or 0) > lived and (held <= ended_bytes or seq > bound) then
    ends = fact.l
    break
  end
  local freed = forget(mail, hex, fact)
  redis.call('ZREM', mail.ended, hex)
  held = redis.call('HINCRBY', meta, 'ended_bytes', 0 - freed) -- number has looked at it
  forgotten = forgotten + 1
end
settle(mail, owner)
return { 'ok', forgotten, ends }
