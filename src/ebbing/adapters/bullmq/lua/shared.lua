-- What all of our scripts share. BullMQ's own scripts stand above this text, each as a function of KEYS and ARGV.
--
-- KEYS[1]  the prefix of everything
--
-- Of BullMQ, a queue a kind, with its own keys:     <prefix>:<kind>:...
-- Beside it, what BullMQ has no notion of:
--   <prefix>.last             the last id that was given, so that ids are unique over all queues
--   <prefix>.kinds            set: every kind that has a queue
--   <prefix>.jobs             sorted set by id: "<id> <kind>" of every job
--   <prefix>.tenant.<tenant>  sorted set by id: "<id> <kind>" of a tenant's jobs
--   <prefix>.owner.<digest>   set: "<id> <kind>" of an owner's jobs
--   <prefix>.names            hash: "<kind>:<key>" to the ids of all jobs of this name, whatever their state
-- and three fields in the hash of a job: ebbing:due and ebbing:until (microseconds), ebbing:owner (a digest).

local call = redis.call
local root = KEYS[1]
local FIELDS = {'data', 'opts', 'ats', 'failedReason', 'progress', 'finishedOn', 'ebbing:due', 'ebbing:until'}

local function queue_of(kind)
  return root .. ':' .. kind .. ':'
end

local function split(member)
  local id, kind = string.match(member, '^(%d+) (.*)$')
  return id, kind, queue_of(kind)
end

local function state_of(queue, id)
  if call('ZSCORE', queue .. 'completed', id) then return 'done' end
  if call('ZSCORE', queue .. 'failed', id) then return 'dead' end
  if call('LPOS', queue .. 'active', id) then return 'running' end
  return 'waiting'
end

-- A job as our client reads it; nil where it is gone.
local function job_of(kind, id, state)
  local queue = queue_of(kind)
  local values = call('HMGET', queue .. id, unpack(FIELDS))
  if not values[1] then return nil end
  return {id, kind, state or state_of(queue, id), values}
end

local function member_of(id)
  return call('ZRANGEBYSCORE', root .. '.jobs', id, id, 'LIMIT', 0, 1)[1]
end

local function data_of(queue, id)
  return cjson.decode(call('HGET', queue .. id, 'data') or '{}')
end

local function attempts_of(queue, id)
  return tonumber(cjson.decode(call('HGET', queue .. id, 'opts') or '{}').attempts) or 1
end

-- The ids of this name whose jobs are still there.
local function ids_of_name(queue, name)
  local there = {}
  for id in string.gmatch(call('HGET', root .. '.names', name) or '', '%d+') do
    if call('EXISTS', queue .. id) == 1 then table.insert(there, id) end
  end
  return there
end

-- While a job waits, its name is taken by BullMQ's own key of deduplication.
local function name_key(queue, id)
  return queue .. 'de:' .. (call('HGET', queue .. id, 'deid') or '')
end

local function is_replaced(queue, id)
  local other = call('GET', name_key(queue, id))
  return other and other ~= id and call('EXISTS', queue .. other) == 1
end

local function take_name(queue, id)
  call('SET', name_key(queue, id), id)
end

local function leave_name(queue, id)
  if call('GET', name_key(queue, id)) == id then call('DEL', name_key(queue, id)) end
end

-- Whether a worker has the job in hand at this attempt: its lock may have run out, but nobody took the job since.
local function in_lease(queue, id, attempts)
  if call('HGET', queue .. id, 'ats') ~= attempts or not call('LPOS', queue .. 'active', id) then return false end
  call('SET', queue .. id .. ':lock', attempts, 'PX', 60000)
  return true
end
