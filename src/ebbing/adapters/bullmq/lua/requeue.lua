-- Let a dead job wait again. ARGV: id, tries, now in microseconds.
local member = member_of(ARGV[1])
if not member then return nil end
local id, kind, queue = split(member)
if not call('ZSCORE', queue .. 'failed', id) or is_replaced(queue, id) then return nil end
local reason, keys = call('HGET', queue .. id, 'failedReason'), {queue .. id}
for number, name in ipairs({'events', 'failed', 'wait', 'meta', 'active', 'marker', 'prioritized', 'pc'}) do
  keys[number + 1] = queue .. name
end
reprocessJob(keys, {id, 'LPUSH', 'failedReason', 'failed', '0', '0'})
local options = cjson.decode(call('HGET', queue .. id, 'opts'))
-- The attempts are counted on, because their number names the lease.
options.attempts = tonumber(call('HGET', queue .. id, 'ats')) + tonumber(ARGV[2])
call('HSET', queue .. id, 'opts', cjson.encode(options), 'ebbing:due', ARGV[3])
if reason then call('HSET', queue .. id, 'failedReason', reason) end
take_name(queue, id)
return job_of(kind, id)
