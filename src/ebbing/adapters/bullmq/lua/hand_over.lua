-- Give a job to another owner; one in hand is begun anew. ARGV: kind, id, digest of the former owner, of the new, data.
local kind, id, former, owner, data = unpack(ARGV)
local queue, member = queue_of(kind), id .. ' ' .. kind
if call('HGET', queue .. id, 'ebbing:owner') ~= former then return 0 end
if call('LPOS', queue .. 'active', id) then
  local attempts = call('HGET', queue .. id, 'ats')
  in_lease(queue, id, attempts)
  if is_replaced(queue, id) then
    remove(kind, id)
    return 1
  end
  give_back(queue, id, attempts)
end
call('HSET', queue .. id, 'data', data, 'ebbing:owner', owner)
call('SREM', root .. '.owner.' .. former, member)
call('SADD', root .. '.owner.' .. owner, member)
return 1
