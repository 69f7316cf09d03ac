-- authority_propose stores what is proposed unless something is there, and gives what
-- is there: the first writer wins.
--
-- KEYS  ca:string
-- ARGV  proposal
-- FLAG  allow-oom
-- An empty proposal only reads.
-- Returns {"ok", authority}.
if proposal ~= '' then redis.call('SET', ca, proposal, 'NX') end
return { 'ok', redis.call('GET', ca) or '' }
