-- rollback raises the epoch of a space that has forgotten acknowledged writes,
-- and takes its sequence beyond them, so that no number is given out twice.
-- A space that knows as much as the caller is left alone.
--
-- KEYS  meta, events
-- ARGV  now, channel, most events, known epoch, known last number, margin
-- Returns {"raised" or "held", epoch, last number}.
typed({ 'hash', 'stream' })
local meta, now, channel, most_events = KEYS[1], clock(ARGV[1]), ARGV[2], ARGV[3]
local known_epoch, known_last, margin = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local log = opened(meta, KEYS[2], channel, most_events, now)
local epoch = epoch_of(meta)
if epoch >= known_epoch and log.seq >= known_last then return { 'held', epoch, log.seq } end

epoch = math.max(epoch, known_epoch) + 1
log.seq = math.max(log.seq, known_last) + margin
emit(log, 'rollback', '', '')
redis.call('HSET', meta, 'epoch', whole(epoch), 'began', whole(log.seq))
return { 'raised', epoch, log.seq }
