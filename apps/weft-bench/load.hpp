// A load: each of N connections sends a request, waits for the whole reply, sends the next, at once
// (closed loop) or when one is due at a fixed rate (open loop; pace.hpp). All connect before the
// first request is sent. Two system calls a request, so that the server is measured and not this.
//
// It is honest about what goes wrong: every kind of failure is counted by itself, a lost connection
// is opened again so that the load stays N, and a reply counts only when it was read to its end.
//
//   weft::bench::load_plan plan;
//   plan.to = address, plan.requests = {{.bytes = text}};
//   std::atomic<bool> stop = false;
//   weft::bench::load_result result = weft::bench::run_load(plan, stop, nullptr);
//   // result.requests / result.seconds, result.latency.percentile(99)
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weft/telemetry/distribution.hpp>

#include "target.hpp"
#include "tls_link.hpp"

namespace weft::bench {

enum class protocol : std::uint8_t {
  http1,
  http2,
  echo,       // the request itself comes back, byte for byte
  websocket,  // a message for each message
};

struct load_field {
  std::string name;
  std::string value;
};

struct load_request {
  std::string bytes{};               // of HTTP/2: the body
  std::vector<load_field> fields{};  // of HTTP/2
  bool is_head = false;              // the reply has no body
  std::string echo{};                // what a WebSocket's message is to be; empty: any will do
};

struct load_plan {
  address to;
  protocol speaks = protocol::http1;
  std::optional<tls_context> tls;      // none: in the clear
  std::string opening;                 // of a WebSocket: its handshake, without the key
  std::vector<load_request> requests;  // sent in turn
  int connections = 50;
  int pipelined = 1;  // requests on a connection that have no reply yet, at most
  int threads = 1;    // connections and rate are divided among them; at most as many as connections
  double rate = 0;    // requests that are due a second; 0: as soon as the last one is answered
  std::chrono::nanoseconds duration = std::chrono::seconds{10};  // after the warm-up
  std::chrono::nanoseconds warm_up = std::chrono::seconds{1};    // from when all are connected
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};   // connect and reply; 1 s coarse
};

// What went wrong, each at most once a request.
struct load_errors {
  std::uint64_t connect = 0;  // refused, unreachable, no descriptor or no port left
  std::uint64_t closed = 0;   // by the peer before the end of a reply
  std::uint64_t reset = 0;    // any error of send or receive; a stream of HTTP/2
  // No connection or no whole reply in time; of a closed loop, in nine tenths of the measured time.
  std::uint64_t timed_out = 0;
  std::uint64_t malformed = 0;  // no HTTP response, or an echo of something else
  std::uint64_t unasked = 0;    // bytes beyond the reply
  std::uint64_t unsent = 0;     // was due, but no connection was free for it to the end

  [[nodiscard]] std::uint64_t total() const {
    return connect + closed + reset + timed_out + malformed + unasked + unsent;
  }
  load_errors& operator+=(const load_errors& more);
  friend bool operator==(const load_errors&, const load_errors&) = default;
};

struct load_counts {
  std::uint64_t requests = 0;  // whole replies
  std::uint64_t bytes_received = 0;
  std::uint64_t reconnects = 0;  // after a reply that said so, or after an error
  std::uint64_t status_3xx = 0;
  std::uint64_t status_4xx = 0;
  std::uint64_t status_5xx = 0;
  load_errors errors;

  [[nodiscard]] std::uint64_t not_2xx() const { return status_3xx + status_4xx + status_5xx; }
};

struct load_result {
  load_counts counts;        // of the measured time
  double seconds = 0;        // measured
  double measured_from = 0;  // CLOCK_MONOTONIC in seconds
  // Nanoseconds to the end of a reply: from its request's send, or in an open loop from when that
  // was due.
  telemetry::distribution latency;
  // How late an open loop has sent what was due while a connection was free: its own fault.
  telemetry::distribution send_delay;
  double cpu_user_seconds = 0;  // of the generator's threads, in the measured time
  double cpu_system_seconds = 0;
  std::uint64_t requests_with_warm_up = 0;
  load_errors errors_in_warm_up;
  std::string first_error;   // why the first connect or transfer failed, or empty
  bool interrupted = false;  // `stop` was set; all of the above is still true
};

// Told about once a second, in one of the loops: be quick.
class load_observer {
 public:
  virtual void on_progress(double seconds, bool warming_up, const load_counts& so_far,
                           const telemetry::distribution& latency) = 0;

 protected:
  ~load_observer() = default;
};

// Runs to the end of the plan or until `stop` (a signal handler may set it). `observer` may be
// null. A process that cannot create an epoll descriptor gets a result with only `first_error`.
load_result run_load(const load_plan& plan, const std::atomic<bool>& stop, load_observer* observer);

}  // namespace weft::bench
