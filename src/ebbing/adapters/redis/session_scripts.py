"""What Redis does with sessions, in Lua: each script changes all that it has to, or nothing.

A turn is a field of the hash `turns`: `place tokens text`, where `text` is the turn as JSON. The hash `counts` holds
the sum of the tokens and the last place. The sorted set `used` holds every session by the moment of its last use, and
`names` holds the same by name.
"""

from __future__ import annotations

from typing import Final

from ebbing.adapters.redis.connection import Script

PUT: Final = Script("""
local turns, counts, used, names = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local field, text, member = ARGV[1], ARGV[2], ARGV[3]
local tokens, place, is_exact = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1'
local beside, most_tokens, most_sessions = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local held = redis.call('HGET', counts, 'tokens')
if not held and redis.call('ZCARD', used) >= most_sessions then
  return 0
end
held = tonumber(held or 0)
local last = tonumber(redis.call('HGET', counts, 'last') or 0)
local more = tokens
local earlier = redis.call('HGET', turns, field)
if earlier then
  local old_place, old_tokens = string.match(earlier, '^(%d+) (%d+) ')
  place, more = tonumber(old_place), tokens - tonumber(old_tokens)
elseif not is_exact and place <= last then
  place = last + 1
end
if more > 0 and held + beside >= most_tokens then
  return 0
end
redis.call('HSET', turns, field, string.format('%.0f %d ', place, tokens) .. text)
redis.call('HSET', counts, 'tokens', held + more, 'last', string.format('%.0f', math.max(last, place)))
redis.call('ZADD', used, ARGV[10], member)
redis.call('ZADD', names, 0, member)
return 1
""")

DROP: Final = Script("""
local turns, counts, used, names = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local member, gone, freed = ARGV[1], {}, 0
for at = 2, #ARGV do
  gone[ARGV[at]] = true
end
local all = redis.call('HGETALL', turns)
for at = 1, #all, 2 do
  local tokens, text = string.match(all[at + 1], '^%d+ (%d+) (.*)$')
  if gone[text] then
    redis.call('HDEL', turns, all[at])
    freed = freed + tonumber(tokens)
  end
end
if redis.call('HLEN', turns) == 0 then
  redis.call('DEL', turns, counts)
  redis.call('ZREM', used, member)
  redis.call('ZREM', names, member)
elseif freed > 0 then
  redis.call('HINCRBY', counts, 'tokens', -freed)
end
return 1
""")

BEGIN_STORING: Final = Script("""
local now = redis.call('TIME')
redis.call('ZADD', KEYS[1], tonumber(now[1]) + tonumber(ARGV[2]), ARGV[1])
return 1
""")

STORING: Final = Script("""
local now = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', tonumber(now[1]))
return redis.call('ZRANGE', KEYS[1], 0, -1)
""")
