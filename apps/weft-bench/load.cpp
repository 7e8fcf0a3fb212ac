#include "load.hpp"

#include <algorithm>
#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "load_loop.hpp"

namespace weft::bench {
namespace {

void add(load_counts& to, const load_counts& more) {
  to.requests += more.requests;
  to.bytes_received += more.bytes_received;
  to.reconnects += more.reconnects;
  to.status_3xx += more.status_3xx;
  to.status_4xx += more.status_4xx;
  to.status_5xx += more.status_5xx;
  to.errors += more.errors;
}

// What all threads report, as one progress.
class shared_progress {
 public:
  shared_progress(std::size_t threads, load_observer& to) : latest_(threads), to_{to} {}

  void tell(std::size_t thread, double seconds, bool warming_up, const load_counts& so_far,
            const telemetry::distribution& latency) {
    const std::scoped_lock lock{mutex_};
    latest_[thread] = {.counts = so_far, .latency = latency};
    if (thread != 0) return;
    part all;
    for (const part& each : latest_) {
      add(all.counts, each.counts);
      all.latency.merge(each.latency);
    }
    to_.on_progress(seconds, warming_up, all.counts, all.latency);
  }

 private:
  struct part {
    load_counts counts;
    telemetry::distribution latency;
  };

  std::mutex mutex_;
  std::vector<part> latest_;
  load_observer& to_;
};

class thread_observer final : public load_observer {
 public:
  thread_observer(shared_progress& to, std::size_t thread) : to_{to}, thread_{thread} {}

  void on_progress(double seconds, bool warming_up, const load_counts& so_far,
                   const telemetry::distribution& latency) override {
    to_.tell(thread_, seconds, warming_up, so_far, latency);
  }

 private:
  shared_progress& to_;
  std::size_t thread_;
};

// The share of one of its threads. The first ones have the odd connections.
load_plan share_of(const load_plan& plan, int thread) {
  load_plan share = plan;
  share.connections =
      plan.connections / plan.threads + static_cast<int>(thread < plan.connections % plan.threads);
  share.rate = plan.rate * share.connections / plan.connections;
  return share;
}

load_result merged(std::vector<load_result> parts) {
  load_result all = std::move(parts.front());
  for (const load_result& each : std::span{parts}.subspan(1)) {
    add(all.counts, each.counts);
    all.seconds = std::max(all.seconds, each.seconds);
    all.measured_from = std::min(all.measured_from, each.measured_from);
    all.latency.merge(each.latency);
    all.send_delay.merge(each.send_delay);
    all.cpu_user_seconds += each.cpu_user_seconds;
    all.cpu_system_seconds += each.cpu_system_seconds;
    all.requests_with_warm_up += each.requests_with_warm_up;
    all.errors_in_warm_up += each.errors_in_warm_up;
    if (all.first_error.empty()) all.first_error = each.first_error;
    all.interrupted |= each.interrupted;
  }
  return all;
}

}  // namespace

load_errors& load_errors::operator+=(const load_errors& more) {
  connect += more.connect;
  closed += more.closed;
  reset += more.reset;
  timed_out += more.timed_out;
  malformed += more.malformed;
  unasked += more.unasked;
  unsent += more.unsent;
  return *this;
}

load_result run_load(const load_plan& plan, const std::atomic<bool>& stop,
                     load_observer* observer) {
  const auto count = static_cast<std::size_t>(plan.threads);
  std::latch settled{plan.threads};
  std::vector<load_result> results(count);
  std::optional<shared_progress> progress;
  if (observer != nullptr) progress.emplace(count, *observer);
  const auto run = [&](std::size_t thread) {
    std::optional<thread_observer> told;
    if (progress) told.emplace(*progress, thread);
    const load_plan share = share_of(plan, static_cast<int>(thread));
    // Too large for the stack together with its buffers.
    results[thread] =
        std::make_unique<load_loop>(share, stop, settled, told ? &*told : nullptr)->run();
  };
  std::vector<std::thread> others;
  for (std::size_t thread = 1; thread < count; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& each : others) each.join();
  return merged(std::move(results));
}

}  // namespace weft::bench
