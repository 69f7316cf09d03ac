-- keys is put in front of the steps that use idempotency keys. Lived is when they do.
--
-- KEYS  idem idemx sender renamed
-- ARGV  now from field fingerprint window key_life

-- recalled gives what is remembered under an idempotency key (field) of a sender,
-- and under the names that it gave up no longer ago than a key lives. What came
-- after that under such a name is of whoever has it now. Was are these names, if they
-- were read already.
local function recalled(lived, was)
  local found = {}
  local function add(raw, by, latest)
    local first = raw and cjson.decode(raw)
    if not first or lived >= first.x or latest and first.x - key_life > latest then return end
    first.by = by
    table.insert(found, first)
  end
  add(redis.call('HGET', idem, field), from)
  if was == '' then return found end
  local former, fields, ends = {}, {}, {}
  for name in string.gmatch(was or redis.call('HGET', sender, 'was') or '', '%S+') do table.insert(former, name) end
  if #former == 0 then return found end
  for i, row in ipairs(redis.call('HMGET', renamed, unpack(former))) do
    local to, at = string.match(row or '', '^(%S+) (%S+)$')
    if to == from and lived - tonumber(at) < key_life then
      table.insert(fields, former[i] .. string.sub(field, #from + 1))
      table.insert(ends, { former[i], tonumber(at) })
    end
  end
  if #fields == 0 then return found end
  for i, raw in ipairs(redis.call('HMGET', idem, unpack(fields))) do add(raw, ends[i][1], ends[i][2]) end
  return found
end

-- differs reports whether the first message under a key was another one, as far as the two
-- fingerprints can be compared: those of two versions of c3po cannot.
local function differs(first)
  return first.p ~= fingerprint and string.match(first.p, '^%d+:') == string.match(fingerprint, '^%d+:')
end

-- meant says whether a key was used for this recipient, by whichever of its names;
-- a name that nobody has (not known) is one it had.
local function meant(first, to, known)
  if first.o == to then return true end
  local today, at = string.match(redis.call('HGET', renamed, first.o) or '', '^(%S+) (%S+)$')
  if not today or first.x - key_life > tonumber(at) then today = first.o end
  if not known then to = string.match(redis.call('HGET', renamed, to) or '', '^(%S+)') or to end
  return today == to
end

-- remembered looks an idempotency key up. It gives nil, 'conflict' and the first recipient
-- if only that differs, or the record of the first message and whether that message is still pending. A reply has
-- no recipient (to) of its own.
local function remembered(facts, lived, was, to, known)
  for _, first in ipairs(recalled(lived, was)) do
    local stored = redis.call('HGET', facts, first.h)
    local state = 'acked'
    if stored then state = (legible(stored) or {}).s or 'pending' end
    if window == 0 then
      if differs(first) then return 'conflict', '' end
      if to and not meant(first, to, known) then return 'conflict', first.o end
      return first, state, stored
    end
    if state == 'pending' and now - first.a < window then return first, state, stored end
  end
end

local function remember(to, hex, thread, lived)
  local ends = whole(lived + key_life)
  local own = thread == from .. '::' .. to .. '::' .. hex -- which needs no quoting
  redis.call('HSET', idem, field, '{"o":"' .. to .. '","h":"' .. hex .. '","t":' .. (own and '"' .. thread .. '"' or quoted(thread))
    .. ',"a":' .. whole(now) .. ',"p":"' .. fingerprint .. '","x":' .. ends .. '}')
  redis.call('ZADD', idemx, ends, field)
end
