-- Places an order for an animal, completes it, and goes on with the next animal;
-- reports as one line of JSON, in which a request is such a pair.
--
--     wrk -t 1 ... -s orders.lua URL -- FILE
--
-- The file has the API key, then in each line the identifier of an available animal and
-- the Idempotency-Key of its order.
-- FILE.used counts those that earlier runs used, so that no animal is sold twice.

local placed, first, last, threads = {}, 1, 0, {}
used, completed = 0, 0

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local file = assert(io.open(args[1], "r"))
  key = file:read()
  pets, keys = {}, {}
  for line in file:lines() do
    pets[#pets + 1], keys[#keys + 1] = line:match("(%d+) (%S+)")
  end
  file:close()
  path = args[1] .. ".used"
  local earlier = io.open(path, "r")
  if earlier then
    used = tonumber(earlier:read())
    earlier:close()
  end
  fields = " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " .. key .. "\r\n"
end

function request()
  local order = placed[first]
  if order then
    placed[first] = nil
    first = first + 1
    return "POST /v1/store/orders/" .. order .. "/complete" .. fields .. "Content-Length: 0\r\n\r\n"
  end
  used = used + 1
  local body = '{"petId":' .. assert(pets[used], "no available animal is left") .. "}"
  return "POST /v1/store/orders" .. fields .. "Idempotency-Key: " .. keys[used] ..
    "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function response(status, headers, body)
  if status == 201 then
    -- Not #placed, which is any place before a hole.
    last = last + 1
    placed[last] = body:match('"id":(%d+)')
  elseif status == 200 then
    completed = completed + 1
  end
end

function done(summary, latency)
  local thread = threads[1]
  local file = assert(io.open(thread:get("path"), "w"))
  file:write(thread:get("used"))
  file:close()
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %f, "p50_us": %d, "p99_us": %d, "errors": ' ..
    '{"status": %d, "connect": %d, "read": %d, "write": %d, "timeout": %d}}\n',
    thread:get("completed"), summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
