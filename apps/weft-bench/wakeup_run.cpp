#include "wakeup_run.hpp"

#include <memory>
#include <thread>

#include <weft/loop/event_loop.hpp>
#include <weft/realtime/periodic.hpp>

namespace weft::bench {
namespace {

task<void> wake_up(event_loop& loop, const wakeup_plan& plan, wakeup_run& into) {
  realtime::periodic clock{loop, {.period = plan.period, .name = "wake-ups"}};
  const std::uint64_t warm_up = plan.wakeups / 100;
  for (std::uint64_t i = 0; i < warm_up; ++i)
    if (!co_await clock.next()) co_return;
  const realtime::thread_usage before = realtime::thread_usage::read();
  for (std::uint64_t i = 0; i < plan.wakeups; ++i) {
    const auto release = co_await clock.next();
    if (!release) co_return;
    const auto late = std::chrono::floor<std::chrono::microseconds>(release->latency());
    into.latency.record(static_cast<std::uint64_t>(std::chrono::nanoseconds{late}.count()));
  }
  const realtime::thread_usage used = realtime::thread_usage::read() - before;
  into.page_faults = used.minor_faults + used.major_faults;
}

void run_here(const wakeup_plan& plan, wakeup_run& into) {
  const realtime::applied_setup made = realtime::apply({.policy = realtime::scheduling::fifo,
                                                        .priority = plan.priority,
                                                        .cpu = plan.cpu,
                                                        .lock_memory = true,
                                                        .stack_bytes = 256 * 1024,
                                                        .heap_bytes = 1024 * 1024,
                                                        .timer_slack = std::chrono::nanoseconds{1},
                                                        .keep_processors_awake = true});
  into.effects = made.effects;
  into.latency.prepare();
  auto loop = event_loop::create({.backend = plan.backend, .idle = plan.idle});
  if (!loop) return;
  (*loop)->spawn(wake_up(**loop, plan, into));
  (*loop)->run();
}

}  // namespace

wakeup_run run_weft(const wakeup_plan& plan) {
  wakeup_run made;
  std::thread{[&] { run_here(plan, made); }}.join();
  return made;
}

}  // namespace weft::bench
