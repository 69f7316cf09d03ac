-- lease_renew renews (or with a length of 0 ends) the lease of a node.
--
-- KEYS  nodes:hash
-- ARGV  now:clock node length
-- FLAG  allow-oom
if length == '0' then
  redis.call('HDEL', nodes, node)
else
  redis.call('HSET', nodes, node, whole(now + tonumber(length)))
end
return { 'ok' }
