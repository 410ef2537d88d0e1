-- Remove some of what was done before a moment. ARGV: the moment in ms, how many at most. Returns how many.
local removed, most = 0, tonumber(ARGV[2])
for _, kind in ipairs(call('SMEMBERS', root .. '.kinds')) do
  local done = queue_of(kind) .. 'completed'
  for _, id in ipairs(call('ZRANGEBYSCORE', done, '-inf', '(' .. ARGV[1], 'LIMIT', 0, most - removed)) do
    remove(kind, id)
    removed = removed + 1
  end
end
return removed
