#include "wakeup_run.hpp"

#include <sys/mman.h>

#include <memory>
#include <thread>

#include <weft/base/format.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/realtime/periodic.hpp>

namespace weft::bench {
namespace {

/// All are recorded, as cyclictest does: what the first ones cost is not to be one side's alone.
task<void> wake_up(event_loop& loop, const wakeup_plan& plan, wakeup_run& into) {
  realtime::periodic clock{loop, {.period = plan.period, .name = "wake-ups"}};
  realtime::thread_usage warm;
  for (std::uint64_t i = 0; i < plan.wakeups; ++i) {
    if (i == plan.wakeups / 100) warm = realtime::thread_usage::read();
    const auto release = co_await clock.next();
    if (!release) co_return;
    const auto late = std::chrono::floor<std::chrono::microseconds>(release->latency());
    into.latency.record(static_cast<std::uint64_t>(std::chrono::nanoseconds{late}.count()));
  }
  const realtime::thread_usage used = realtime::thread_usage::read() - warm;
  into.page_faults = used.minor_faults + used.major_faults;
}

std::expected<wakeup_run, std::string> run_here(const wakeup_plan& plan) {
  const realtime::applied_setup made = realtime::apply({.policy = realtime::scheduling::fifo,
                                                        .priority = plan.priority,
                                                        .cpu = plan.cpu,
                                                        .lock_memory = true,
                                                        .stack_bytes = 256 * 1024,
                                                        .heap_bytes = 1024 * 1024,
                                                        .timer_slack = std::chrono::nanoseconds{1},
                                                        .keep_processors_awake = true});
  wakeup_run run;
  run.effects = made.effects;
  run.latency.prepare();
  auto loop = event_loop::create({.backend = plan.backend, .idle = plan.idle});
  if (!loop)
    return std::unexpected{weft::format("there is no such loop here: {}", loop.error().message())};
  (*loop)->spawn(wake_up(**loop, plan, run));
  (*loop)->run();
  ::munlockall();  // what others of the program take later is theirs
  if (run.latency.count() != plan.wakeups) return std::unexpected{"the loop ended early"};
  return run;
}

}  // namespace

std::expected<wakeup_run, std::string> run_weft(const wakeup_plan& plan) {
  std::expected<wakeup_run, std::string> made;
  std::thread{[&] { made = run_here(plan); }}.join();
  return made;
}

}  // namespace weft::bench
