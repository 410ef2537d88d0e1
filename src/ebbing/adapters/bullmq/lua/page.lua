-- Jobs from the newest on, a part of them at a time.
-- ARGV: `jobs` or `tenant.<tenant>`; ids below this one, '(17' or '+inf'; how many ids to look at; how many jobs to
-- return; state, kind or ''.
-- Returns where to go on ('' at the end) and the jobs of these.
local index, below, size, most, state, kind_only = unpack(ARGV)
local members = call('ZREVRANGEBYSCORE', root .. '.' .. index, below, '-inf', 'LIMIT', 0, size)
local jobs, last = {}, ''
for _, member in ipairs(members) do
  local id, kind, queue = split(member)
  last = '(' .. id
  if #jobs == tonumber(most) then break end
  if kind_only == '' or kind == kind_only then
    local its_state = state_of(queue, id)
    local job = (state == '' or state == its_state) and job_of(kind, id, its_state)
    if job then table.insert(jobs, job) end
  end
end
return {#members < tonumber(size) and '' or last, jobs}
