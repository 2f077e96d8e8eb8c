-- Sends the requests of a file, one after the other, and begins again at its
-- end; reports as one line of JSON.
--
--     wrk ... -s requests.lua URL -- FILE
--
-- The file holds whole requests, each after a line with its length in bytes.
-- They come ready made, so that the load costs next to nothing to generate
-- and the server is what is measured.

local requests = {}

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for length in file:lines() do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()

  if #requests == 1 then
    -- wrk sends what it formats once, and never asks Lua again.
    wrk.format = function() return requests[1] end
    return
  end
  local last = 0
  request = function()
    last = last % #requests + 1
    return requests[last]
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %f, "p50_us": %d, "p99_us": %d, "errors": ' ..
    '{"status": %d, "connect": %d, "read": %d, "write": %d, "timeout": %d}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
