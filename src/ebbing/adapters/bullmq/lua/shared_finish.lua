-- Move a job that is locked by this attempt to `completed` or `failed`.
local function finish(queue, id, target, field, value, token, now)
  local keys = {}
  for number, name in ipairs({'wait', 'active', 'prioritized', 'events', 'stalled', 'limiter', 'delayed', 'paused',
    'meta', 'pc', target, id, 'metrics:' .. target, 'marker'}) do
    keys[number] = queue .. name
  end
  local options = {token = token, keepJobs = {count = -1}, attempts = attempts_of(queue, id), maxMetricsSize = ''}
  return moveToFinished(keys, {id, now, field, value, target, '0', queue, cmsgpack.pack(options)})
end
