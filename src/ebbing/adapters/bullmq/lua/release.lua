-- Give a job back as if it had not been tried. ARGV: kind, id, attempts.
local kind, id, attempts = unpack(ARGV)
local queue = queue_of(kind)
if not in_lease(queue, id, attempts) then return 0 end
if is_replaced(queue, id) then
  remove(kind, id)
else
  give_back(queue, id, attempts)
end
return 1
