-- Kind and state of a tenant's jobs, a part of them at a time. ARGV: tenant, ids above this one, how many to look at.
-- Returns where to go on ('' at the end), then kind, state, kind, ...
local tenant, above, size = unpack(ARGV)
local members = call('ZRANGEBYSCORE', root .. '.tenant.' .. tenant, above, '+inf', 'LIMIT', 0, size)
local states = {''}
for _, member in ipairs(members) do
  local id, kind, queue = split(member)
  if #members == tonumber(size) then states[1] = '(' .. id end
  if call('EXISTS', queue .. id) == 1 then
    table.insert(states, kind)
    table.insert(states, state_of(queue, id))
  end
end
return states
