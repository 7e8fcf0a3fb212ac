// How late a thread is woken that wants to work at exact times: by weft's loop, and by cyclictest
// (rt-tests), which asks the kernel for it as directly as can be.
//
// Contract: each run takes `wakeups` periods and keeps one processor meanwhile. Latencies are from
// when a wake-up was due until the thread knew of it, of every one, the first included, in whole
// microseconds, as cyclictest has them, kept as nanoseconds. What the system does not permit is
// left out, by both.
//
//   const wakeup_run ours = run_weft({.period = 100us, .wakeups = 100'000, .cpu = 1});
//   ours.latency.percentile(99.99);
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <weft/loop/idle_policy.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/realtime/thread_setup.hpp>
#include <weft/telemetry/distribution.hpp>

namespace weft::bench {

struct wakeup_plan {
  std::chrono::nanoseconds period = std::chrono::microseconds{100};
  std::uint64_t wakeups = 100'000;
  unsigned cpu = 0;
  int priority = 80;  // of SCHED_FIFO
  backend_kind backend = backend_kind::automatic;
  idle_policy idle{};
};

struct wakeup_run {
  telemetry::distribution latency;
  /// After a hundredth of the wake-ups.
  std::int64_t page_faults = 0;
  std::vector<realtime::setup_effect> effects;
};

/// Fails with a sentence for the user: there is no such loop here, or it ended early.
std::expected<wakeup_run, std::string> run_weft(const wakeup_plan& plan);

/// Fails with a sentence for the user: it is not there, or may not.
std::expected<telemetry::distribution, std::string> run_cyclictest(const wakeup_plan& plan);

/// What `cyclictest --histogram` prints: lines of microseconds and how often, then what overflowed
/// and the largest. Fails for what is no such text.
std::expected<telemetry::distribution, std::string> read_histogram(std::string_view text);

}  // namespace weft::bench
