-- notice_claim takes on telling a person of an open question by one channel. Who
-- takes it on again has waited twice as long each time.
--
-- KEYS  facts:hash
-- ARGV  now:clock from hex what first:number longest:number most:number
-- FLAG  allow-oom
-- Returns {"claimed"}; {"taken"} if it was done, is being done or was given up;
-- {"ended"} if the question is no longer open.
local raw = redis.call('HGET', facts, hex)
local fact = editable(raw)
if not fact or fact.f ~= from or fact.s then return { 'ended' } end
fact.nt = fact.nt or {}
local notice = fact.nt[what] or { n = 0, u = 0 }
if notice.d or notice.u > now or notice.n >= most then return { 'taken' } end
notice.u = now + math.min(first * 2 ^ notice.n, longest)
notice.n = notice.n + 1
fact.nt[what] = notice
redis.call('HSET', facts, hex, cjson.encode(fact))
return { 'claimed' }
