-- Give a job back for another try, or up. ARGV: kind, id, attempts, now in ms, reason, due in microseconds, due in ms.
local kind, id, attempts, now, reason, due, due_ms = unpack(ARGV)
local queue = queue_of(kind)
if not in_lease(queue, id, attempts) then return 0 end
call('HSET', queue .. id, 'ebbing:due', due)
if tonumber(attempts) >= attempts_of(queue, id) or is_replaced(queue, id) then
  return finish(queue, id, 'failed', 'failedReason', reason, attempts, now) == 0 and 1 or 0
end
local keys = {}
for number, name in ipairs({'marker', 'active', 'prioritized', 'delayed', id, 'events', 'meta', 'stalled', 'wait',
  'limiter', 'pc'}) do
  keys[number] = queue .. name
end
local delay = string.format('%.0f', math.max(0, tonumber(due_ms) - tonumber(now)))
local fields = cmsgpack.pack({'failedReason', reason})
local result = moveToDelayed(keys, {queue, now, id, attempts, delay, '0', fields, '0'})
take_name(queue, id)
return result == 0 and 1 or 0
