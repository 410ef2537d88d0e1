-- Jobs that are in hand or were given up, from the newest on: these are few, and BullMQ has them together.
-- ARGV: state, kind or '', tenant or '', how many.
local state, kind_only, tenant, most = unpack(ARGV)
local rows, jobs = {}, {}
for _, kind in ipairs(call('SMEMBERS', root .. '.kinds')) do
  if kind_only == '' or kind == kind_only then
    local queue = queue_of(kind)
    local ids = state == 'running' and call('LRANGE', queue .. 'active', 0, -1)
      or call('ZRANGE', queue .. 'failed', 0, -1)
    for _, id in ipairs(ids) do
      if tenant == '' or data_of(queue, id).tenant == tenant then table.insert(rows, {tonumber(id), kind, id}) end
    end
  end
end
table.sort(rows, function(left, right) return left[1] > right[1] end)
for number = 1, math.min(#rows, tonumber(most)) do
  local job = job_of(rows[number][2], rows[number][3], state)
  if job then table.insert(jobs, job) end
end
return jobs
