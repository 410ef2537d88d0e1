-- Add jobs that are not there yet, all in one step.
-- ARGV[1] now, in ms. Then of each job: kind, key, data, attempts, due in microseconds, due in ms, once, tenant, owner.
-- Returns how many were added, and the id under which the last one waits.
local now, added, last = tonumber(ARGV[1]), 0, false

local function next_id(queue)
  local id = math.max(tonumber(call('GET', root .. '.last') or 0), tonumber(call('GET', queue .. 'id') or 0)) + 1
  call('SET', queue .. 'id', string.format('%.0f', id - 1))
  return string.format('%.0f', id)
end

local function store(kind, key, data, attempts, due)
  local queue = queue_of(kind)
  -- What was due before now is sorted in by the time at which it was.
  local begun = math.min(now, due)
  local options = {attempts = tonumber(attempts), delay = due - begun, de = {id = key}}
  local about = {queue, '', kind, begun, [9] = queue .. 'de:' .. key}
  local args = {cmsgpack.pack(about), data, cmsgpack.pack(options)}
  local first = call('ZRANGE', queue .. 'delayed', 0, 0, 'WITHSCORES')[2]
  local is_next = due == now and not (first and tonumber(first) < (now + 1) * 0x1000)
  local keys = {}
  local names = is_next and {'wait', 'paused', 'meta', 'id', 'completed', 'delayed', 'active', 'events', 'marker'}
    or {'marker', 'meta', 'id', 'delayed', 'completed', 'events'}
  for number, name in ipairs(names) do keys[number] = queue .. name end
  return is_next and addStandardJob(keys, args) or addDelayedJob(keys, args)
end

for start = 2, #ARGV, 9 do
  local kind, key, data, attempts, due, due_ms, once, tenant, owner = unpack(ARGV, start, start + 8)
  local queue, name = queue_of(kind), kind .. ':' .. key
  local same = ids_of_name(queue, name)
  if once == '' or #same == 0 then
    local id = next_id(queue)
    last = store(kind, key, data, attempts, tonumber(due_ms))
    if last == id then
      added = added + 1
      call('HSET', queue .. id, 'ebbing:due', due, 'ebbing:owner', owner)
      call('SET', root .. '.last', id)
      call('SADD', root .. '.kinds', kind)
      call('ZADD', root .. '.jobs', id, id .. ' ' .. kind)
      call('ZADD', root .. '.tenant.' .. tenant, id, id .. ' ' .. kind)
      if owner ~= '' then call('SADD', root .. '.owner.' .. owner, id .. ' ' .. kind) end
      table.insert(same, id)
      call('HSET', root .. '.names', name, table.concat(same, ' '))
    end
  end
end
return {added, last}
