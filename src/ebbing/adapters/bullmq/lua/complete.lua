-- ARGV: kind, id, attempts, now in ms.
local kind, id, attempts, now = unpack(ARGV)
local queue = queue_of(kind)
if not in_lease(queue, id, attempts) then return 0 end
call('HDEL', queue .. id, 'failedReason')
return finish(queue, id, 'completed', 'returnvalue', 'null', attempts, now) == 0 and 1 or 0
