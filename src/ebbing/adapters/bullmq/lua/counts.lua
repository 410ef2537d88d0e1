-- How many jobs of each kind are in each state, as BullMQ counts them. Returns kind, state, count, kind, ...
local counts = {}
for _, kind in ipairs(call('SMEMBERS', root .. '.kinds')) do
  local queue = queue_of(kind)
  local waiting = call('LLEN', queue .. 'wait') + call('LLEN', queue .. 'paused')
    + call('ZCARD', queue .. 'delayed') + call('ZCARD', queue .. 'prioritized')
  local of_state = {waiting = waiting, running = call('LLEN', queue .. 'active'),
    done = call('ZCARD', queue .. 'completed'), dead = call('ZCARD', queue .. 'failed')}
  for state, count in pairs(of_state) do
    for _, value in ipairs({kind, state, count}) do table.insert(counts, value) end
  end
end
return counts
