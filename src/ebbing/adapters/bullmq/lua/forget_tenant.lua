-- Remove some of a tenant's jobs. ARGV: tenant, how many at most. Returns how many it looked at, and removed.
-- The newest ones go first, since these come first in BullMQ's list of what waits.
local members, removed = call('ZREVRANGE', root .. '.tenant.' .. ARGV[1], 0, tonumber(ARGV[2]) - 1), 0
for _, member in ipairs(members) do
  local id, kind, queue = split(member)
  removed = removed + call('EXISTS', queue .. id)
  remove(kind, id)
  call('ZREM', root .. '.tenant.' .. ARGV[1], member)
end
return {#members, removed}
