-- epoch_raise raises the epoch of a space that has forgotten acknowledged writes,
-- and takes its sequence beyond them, so that no number is given out twice.
-- A space that knows as much as the caller is left alone.
--
-- KEYS  meta:hash events:stream
-- ARGV  now:clock channel max_events known_epoch:number known_last:number margin:number
-- FLAG  allow-oom
-- Returns {"raised" or "held", epoch, last number}.
local log = opened()
local epoch = epoch_of(meta)
if epoch >= known_epoch and log.seq >= known_last then return { 'held', epoch, log.seq } end

epoch = math.max(epoch, known_epoch) + 1
log.seq = math.max(log.seq, known_last) + margin
emit(log, 'rollback', '', '')
redis.call('HSET', meta, 'epoch', whole(epoch), 'began', whole(log.seq))
return { 'raised', epoch, log.seq }
