-- noticeclaim takes on telling a person of an open question by one channel. Who
-- takes it on again has waited twice as long each time.
--
-- KEYS  fact (the person's)
-- ARGV  now, from, hex, what, first pause, longest pause, most tries
-- Returns {"claimed"}; {"taken"} if it was done, is being done or was given up;
-- {"ended"} if the question is no longer open.
typed({ 'hash' })
local now, from, hex, what = clock(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local first, longest, most = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local raw = redis.call('HGET', KEYS[1], hex)
local fact = editable(raw)
if not fact or fact.f ~= from or fact.s then return { 'ended' } end
fact.nt = fact.nt or {}
local notice = fact.nt[what] or { n = 0, u = 0 }
if notice.d or notice.u > now or notice.n >= most then return { 'taken' } end
notice.u = now + math.min(first * 2 ^ notice.n, longest)
notice.n = notice.n + 1
fact.nt[what] = notice
redis.call('HSET', KEYS[1], hex, cjson.encode(fact))
return { 'claimed' }
