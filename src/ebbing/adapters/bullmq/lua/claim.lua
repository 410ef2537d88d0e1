-- Hand out the job that has been due longest.
-- ARGV: now in ms, now in microseconds, end of the lease in microseconds, lease in ms, reason of a burial, kinds ...
-- Returns the job, or nothing.
local now, now_micros, till, lease, lost = unpack(ARGV, 1, 5)
local best

local function consider(kind, id, is_lapsed)
  local due = tonumber(call('HGET', queue_of(kind) .. id, 'ebbing:due') or 0)
  local is_better = not best or due < best.due or (due == best.due and tonumber(id) < tonumber(best.id))
  if is_better then best = {due = due, id = id, kind = kind, is_lapsed = is_lapsed} end
end

-- A job whose last worker died is not tried for ever: it may be what kills them.
local function consider_or_bury(kind, id)
  local queue = queue_of(kind)
  local attempts = call('HGET', queue .. id, 'ats') or '1'
  if tonumber(attempts) < attempts_of(queue, id) then
    consider(kind, id, true)
  else
    in_lease(queue, id, attempts)
    finish(queue, id, 'failed', 'failedReason', lost, attempts, now)
  end
end

local function look_through(kind)
  local queue = queue_of(kind)
  for _, id in ipairs(call('LRANGE', queue .. 'active', 0, -1)) do
    local ends = tonumber(call('HGET', queue .. id, 'ebbing:until') or 0)
    -- By the clock of the caller or by that of Redis, whichever says so first.
    if ends <= tonumber(now_micros) or call('EXISTS', queue .. id .. ':lock') == 0 then consider_or_bury(kind, id) end
  end
  local head = call('LINDEX', queue .. 'wait', -1)
  if head then consider(kind, head, false) end
  local first = call('ZRANGE', queue .. 'delayed', 0, 0, 'WITHSCORES')
  if first[2] and tonumber(first[2]) < (tonumber(now) + 1) * 0x1000 then consider(kind, first[1], false) end
end

-- BullMQ's own recovery of a stalled job, of this one alone: it becomes the next one to be handed out.
local function recover(queue, id)
  call('DEL', queue .. id .. ':lock', queue .. 'stalled', queue .. 'stalled-check')
  call('SADD', queue .. 'stalled', id)
  local keys = {}
  for number, name in ipairs({'stalled', 'wait', 'active', 'stalled-check', 'meta', 'paused', 'marker', 'events',
    'repeat'}) do
    keys[number] = queue .. name
  end
  moveStalledJobsToWait(keys, {'1000000000', queue, now, '1'})
end

for number = 6, #ARGV do
  local queue = queue_of(ARGV[number])
  if call('HEXISTS', queue .. 'meta', 'paused') == 0 then look_through(ARGV[number]) end
end
if not best then return nil end

local queue, keys = queue_of(best.kind), {}
if best.is_lapsed then recover(queue, best.id) end
for number, name in ipairs({'wait', 'active', 'prioritized', 'events', 'stalled', 'limiter', 'delayed', 'paused',
  'meta', 'pc', 'marker'}) do
  keys[number] = queue .. name
end
-- The number of the attempt is the token of the lock, and known only after the job is taken.
local id = moveToActive(keys, {queue, now, cmsgpack.pack({token = '0', lockDuration = tonumber(lease)})})[2]
if not id or id == 0 then return nil end
call('SET', queue .. id .. ':lock', call('HGET', queue .. id, 'ats'), 'PX', lease)
call('HSET', queue .. id, 'ebbing:until', till)
leave_name(queue, id)
return job_of(best.kind, id, 'running')
