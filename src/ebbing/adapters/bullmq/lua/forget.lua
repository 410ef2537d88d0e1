-- Remove an owner's jobs. ARGV: digest of the owner, agent or '', run or ''.
local removed = 0
for _, member in ipairs(call('SMEMBERS', root .. '.owner.' .. ARGV[1])) do
  local id, kind, queue = split(member)
  local data = data_of(queue, id)
  if (ARGV[2] == '' or data.agent == ARGV[2]) and (ARGV[3] == '' or data.run == ARGV[3]) then
    removed = removed + call('EXISTS', queue .. id)
    remove(kind, id)
  end
end
return removed
