-- ARGV[1] the id of a job.
local member = member_of(ARGV[1])
if not member then return nil end
local id, kind = split(member)
return job_of(kind, id)
