-- For wrk: the ping, or after `-- GET` nothing but a GET, and one line of JSON at the end (latencies in microseconds), which
-- harness/generators.py reads in place of wrk's rounded table.
wrk.method = "POST"
wrk.body = '{"sequence": 2}'
wrk.headers["Content-Type"] = "application/json"

function init(arguments)
  if arguments[1] == "GET" then wrk.method, wrk.body, wrk.headers["Content-Type"] = "GET", nil, nil end
end

local line = 'RESULT {"requests": %d, "seconds": %.6f, "percentiles": {%s}, "max": %.1f, '
  .. '"connect": %d, "read": %d, "write": %d, "timeout": %d, "status": %d}\n'

function done(summary, latency)
  local percentiles = {}
  for _, percent in ipairs({50, 75, 90, 99, 99.9, 99.99}) do
    percentiles[#percentiles + 1] = ('"p%g": %.1f'):format(percent, latency:percentile(percent))
  end
  local errors = summary.errors
  io.write(line:format(summary.requests, summary.duration / 1e6, table.concat(percentiles, ", "), latency.max,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
