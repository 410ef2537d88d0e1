-- Make a job that is locked by this attempt the next one to be handed out, and do not count the attempt.
local function give_back(queue, id, attempts)
  local keys = {}
  for number, name in ipairs({'active', 'wait', 'stalled', 'paused', 'meta', 'limiter', 'prioritized', 'marker',
    'events'}) do
    keys[number] = queue .. name
  end
  moveJobFromActiveToWait(keys, {id, attempts, queue .. id})
  call('HINCRBY', queue .. id, 'ats', -1)
  take_name(queue, id)
end
