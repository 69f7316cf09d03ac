-- lease renews (or with a length of 0 ends) the lease of a node.
--
-- KEYS  nodes
-- ARGV  now, node, length
typed({ 'hash' })
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], ARGV[2])
else
  redis.call('HSET', KEYS[1], ARGV[2], whole(clock(ARGV[1]) + tonumber(ARGV[3])))
end
return { 'ok' }
