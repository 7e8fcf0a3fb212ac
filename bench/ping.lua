-- For wrk: the ping, or after `-- GET` nothing but a GET, and one line of JSON at the end (latencies in microseconds), which
-- harness/generators.py reads in place of wrk's rounded table.
wrk.method = "POST"
wrk.body = '{"sequence": 2}'
wrk.headers["Content-Type"] = "application/json"

function init(arguments)
  if arguments[1] == "GET" then wrk.method, wrk.body, wrk.headers["Content-Type"] = "GET", nil, nil end
end

local line = 'RESULT {"requests": %d, "seconds": %.6f, "p50": %.1f, "p99": %.1f, "p999": %.1f, '
  .. '"max": %.1f, "connect": %d, "read": %d, "write": %d, "timeout": %d, "status": %d}\n'

function done(summary, latency)
  local errors = summary.errors
  io.write(line:format(summary.requests, summary.duration / 1e6, latency:percentile(50),
    latency:percentile(99), latency:percentile(99.9), latency.max, errors.connect, errors.read, errors.write,
    errors.timeout, errors.status))
end
