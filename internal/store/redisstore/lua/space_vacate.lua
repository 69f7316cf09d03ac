-- space_vacate looks whether a space is empty, notes since when it is, and forgets it if
-- it is told to and nothing has happened there since.
--
-- KEYS  meta:hash used{agents:zset retired:zset renamed:hash idem:hash expire:zset threads:zset tickets:zset
--       deadlines:zset dead:zset ending:zset flow:hash imported:hash roomorder:zset roles:zset aliases:hash files:hash}
--       rest{events:stream names:zset seen:zset heard:zset sessions:hash nodes:hash attached:zset idemx:zset
--       flowx:zset owed:zset rooms:hash edits:hash editors:hash filex:zset filebox:hash} casts:stream box:hash mark:hash
-- ARGV  life:number last
-- FLAG  allow-oom
-- A space in use has something in used. Casts, box and mark are what else there can be
-- in one that is not: of the built-in room, and of a person. Life is the lived seconds
-- after which an empty space can be forgotten, last the sequence of the one that is to
-- be forgotten now, or nothing.
-- Returns {"busy"}, {"empty"}, {"over"}, {"forgotten"}.
local is = redis.call('HMGET', meta, 'seq', 'paused', 'pending', 'empty', 'empty_seq', 'lived')
local seq, lived = is[1] or '0', tonumber(is[6] or 0)
local busy = (is[2] and is[2] ~= '') or tonumber(is[3] or 0) > 0
for _, key in pairs(used) do busy = redis.call('EXISTS', key) == 1 or busy end
if busy then
  if is[4] then redis.call('HDEL', meta, 'empty', 'empty_seq') end
  return { 'busy' }
end
if last ~= '' then
  if last ~= seq then return { 'busy' } end
  local all = { meta, casts, box, mark }
  for _, keys in ipairs({ used, rest }) do
    for _, key in pairs(keys) do table.insert(all, key) end
  end
  redis.call('UNLINK', unpack(all))
  return { 'forgotten' }
end
if not is[4] or is[5] ~= seq then
  redis.call('HSET', meta, 'empty', whole(lived), 'empty_seq', seq)
  return { 'empty' }
end
return { lived - tonumber(is[4]) >= life and 'over' or 'empty' }
