-- rooms is put in front of every script, behind lib. It holds what the steps of rooms
-- share.

-- seat is a place in a room's log, "seq ordinal": how far a member has come.
-- Ordinals count the posts of a room, so what lies between two seats is one
-- subtraction.
local function seat(text)
  local seq, ordinal = string.match(text or '', '^(%d+) (%d+)$')
  return tonumber(seq or 0), tonumber(ordinal or 0)
end

-- notified is what of a room wakes a member: all, mentions or none. with_notify is
-- the agent's list of that, "room=word …", with another word for one room; without
-- one if that is the default.
local function notified(agent, room)
  for name, is in string.gmatch(redis.call('HGET', agent, 'notify') or '', '(%S+)=(%S+)') do
    if name == room then return is end
  end
  return 'mentions'
end

local function with_notify(agent, room, word)
  local rest = {}
  for name, is in string.gmatch(redis.call('HGET', agent, 'notify') or '', '(%S+)=(%S+)') do
    if name ~= room then table.insert(rest, name .. '=' .. is) end
  end
  if word ~= 'mentions' then table.insert(rest, room .. '=' .. word) end
  return table.concat(rest, ' ')
end

-- roomed reads the row of a room. A damaged one is refused: its numbers are those
-- of all its members.
local function roomed(raw)
  local row = cjson.decode(raw)
  for _, name in ipairs({ 'm', 'q', 'o', 'n', 'b' }) do
    if type(row) ~= 'table' or not countable(row[name]) then error({ err = 'DAMAGED the row of a room' }) end
  end
  return row
end

-- created gives the row of a room that only who made it, or somebody outside, may
-- change; else nil and the refusal. Who may not see the room is not told of it.
local function created(rooms, room, members, id, outside)
  local raw = redis.call('HGET', rooms, room)
  if not raw then return nil, { 'no_room' } end
  local row = roomed(raw)
  if outside == '1' or row.c == id then return row end
  if row.v == 'invite_only' and not redis.call('ZSCORE', members, id) then return nil, { 'no_room' } end
  return nil, { 'not_creator', row.c }
end

-- noted reads a note or the facts of a post; nothing is in a damaged one.
local function noted(raw)
  local read, is = pcall(cjson.decode, raw)
  return read and type(is) == 'table' and is or {}
end

-- skipped is how the zset of an agent spells a post it is not shown in the
-- room: its own, and those it has as mail.
local function skipped(room, ordinal) return room .. '\0' .. string.format('%016.0f', ordinal) end

-- paused_why says why an agent is paused, by itself or with the whole space.
local function paused_why(meta, agent)
  local why = redis.call('HGET', agent, 'paused')
  return why and why ~= '' and why or redis.call('HGET', meta, 'paused') or ''
end

-- talk says whether an agent may have posts to read: it is in rooms, or there
-- were broadcasts since. It also gives the node at which the agent waits or did, and
-- why the agent itself is paused: empty if it is not, nil for who is no agent.
local function talk(meta, agent)
  local is = redis.call('HMGET', agent, 'rooms', 'cast', 'node', 'paused', 'seen')
  local node, paused = is[3] or '', is[4] or (is[5] and '' or nil)
  if is[1] and is[1] ~= '' then return 1, node, paused end
  if not is[2] then return 0, node, paused end
  local _, ordinal = seat(is[2])
  return number(meta, 'casts') > ordinal and 1 or 0, node, paused
end
