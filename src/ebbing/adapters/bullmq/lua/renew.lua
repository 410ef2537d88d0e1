-- Extend the lock of a job. ARGV: kind, id, attempts, lease in ms, its end in microseconds, progress or ''.
local kind, id, attempts, lease, till, progress = unpack(ARGV)
local queue = queue_of(kind)
if not in_lease(queue, id, attempts) then return 0 end
call('HSET', queue .. id, 'ebbing:until', till)
if progress ~= '' then updateProgress({queue .. id, queue .. 'events', queue .. 'meta'}, {id, progress}) end
return extendLock({queue .. id .. ':lock', queue .. 'stalled'}, {attempts, lease, id})
