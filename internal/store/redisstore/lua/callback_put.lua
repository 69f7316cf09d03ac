-- callback_put stores where a caller wants to be told of its task. One of the same id is
-- replaced, and what it was told stays told.
--
-- KEYS  callback:hash callbacks:zset auth:hash
-- ARGV  name id text account told most:number all:number life:number
-- Returns {"ok"}; {"many"} if the account has as many for the task as it may; {"full"} if too many tasks
-- have one.
if redis.call('HEXISTS', callback, 'b:' .. id) == 0 then
  local count = 0
  for _, field in ipairs(redis.call('HKEYS', callback)) do
    if string.sub(field, 1, 2) == 'b:' then
      local made, is = pcall(cjson.decode, redis.call('HGET', callback, field))
      if made and (is.account or '') == account then count = count + 1 end
    end
  end
  if count >= most then return { 'many' } end
end
if not redis.call('ZSCORE', callbacks, name) and redis.call('ZCARD', callbacks) >= all then return { 'full' } end
local revision = redis.call('HINCRBY', auth, 'callbacks', 1)
redis.call('HSET', callback, 'b:' .. id, text)
redis.call('HSETNX', callback, 't:' .. id, told)
redis.call('PEXPIRE', callback, whole(life))
redis.call('ZADD', callbacks, whole(revision), name)
return { 'ok' }
