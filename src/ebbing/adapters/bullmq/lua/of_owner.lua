-- The jobs of an owner: id, kind and data of each. ARGV[1] digest of the owner.
local jobs = {}
for _, member in ipairs(call('SMEMBERS', root .. '.owner.' .. ARGV[1])) do
  local id, kind, queue = split(member)
  local data = call('HGET', queue .. id, 'data')
  if data then table.insert(jobs, {id, kind, data}) end
end
return jobs
