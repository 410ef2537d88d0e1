-- Remove a job in whatever state, from BullMQ and from what stands beside it.
local function remove(kind, id)
  local queue, member = queue_of(kind), id .. ' ' .. kind
  local owner, data = call('HGET', queue .. id, 'ebbing:owner'), data_of(queue, id)
  call('DEL', queue .. id .. ':lock')
  removeJob({queue .. id, queue .. 'repeat'}, {id, '0', queue})
  call('SREM', queue .. 'stalled', id)
  call('ZREM', root .. '.jobs', member)
  call('ZREM', root .. '.tenant.' .. (data.tenant or ''), member)
  call('SREM', root .. '.owner.' .. (owner or ''), member)
  local name = kind .. ':' .. (data.key or '')
  local rest = table.concat(ids_of_name(queue, name), ' ')
  if rest == '' then
    call('HDEL', root .. '.names', name)
  else
    call('HSET', root .. '.names', name, rest)
  end
end
