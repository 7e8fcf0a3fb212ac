#include "dispatch_workload.hpp"

#include <chrono>
#include <memory>

#include <weft/loop/event_loop.hpp>
#include <weft/service/event_bus.hpp>
#include <weft/telemetry/distribution.hpp>

#include "workload_loop.hpp"

namespace weft::bench {
namespace {

struct patient {};
struct urgent {};

/// Each urgent event is published when the one before is told: of those that wait none is told
/// until the last of them was.
class urgent_chain {
 public:
  urgent_chain(event_bus& events, std::uint64_t count) : events_{events}, left_{count} {
    latency_.prepare();
  }

  void publish() {
    published_at_ = std::chrono::steady_clock::now();
    is_right_ &= events_.publish(urgent{}, priority::high).has_value();
  }
  void heard() {
    const auto took = std::chrono::steady_clock::now() - published_at_;
    latency_.record(static_cast<std::uint64_t>(std::chrono::nanoseconds{took}.count()));
    is_right_ &= events_.statistics_of<patient>().told == 0;
    if (--left_ != 0) publish();
  }
  [[nodiscard]] bool is_right() const { return is_right_ && left_ == 0; }
  [[nodiscard]] const telemetry::distribution& latency() const { return latency_; }

 private:
  event_bus& events_;
  std::uint64_t left_;
  std::chrono::steady_clock::time_point published_at_;
  telemetry::distribution latency_;
  bool is_right_ = true;
};

}  // namespace

workload_share run_dispatches(const workload_options& options) {
  const std::unique_ptr<event_loop> loop = make_workload_loop();
  event_bus events{{.capacity = options.queued + 2, .bound = options.queued + 2}, *loop};
  workload_share done;
  for (std::uint64_t i = 0; i < options.queued; ++i)
    done.is_right &= events.publish(patient{}, priority::low).has_value();
  urgent_chain chain{events, options.count};
  const auto heard = events.on<urgent>([&](const urgent&) { chain.heard(); });
  chain.publish();
  loop->run();
  done.dispatched = events.statistics_of<urgent>().told;
  done.is_right = done.is_right && chain.is_right() && done.dispatched == options.count &&
                  events.statistics_of<patient>().told == options.queued;
  done.queue_bytes_max = events.queue_bytes_max();
  done.p50_ns = chain.latency().percentile(50);
  done.p99_ns = chain.latency().percentile(99);
  done.max_ns = chain.latency().max();
  return done;
}

}  // namespace weft::bench
