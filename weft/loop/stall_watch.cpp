#include <weft/loop/stall_watch.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <source_location>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/task_dump.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/thread_place.hpp>

namespace weft {
namespace {

constexpr duration pause_between_warnings = std::chrono::seconds{1};
constexpr int looks_within_limit = 2;
constexpr int limits_until_told = 10;
constexpr int looks_until_doze = 20;

std::string in_milliseconds(duration length) {
  return weft::format("{}", std::chrono::duration_cast<std::chrono::milliseconds>(length));
}

}  // namespace

stall_watch::stall_watch(duration limit)
    : limit_{std::max(limit, duration{std::chrono::milliseconds{1}})},
      thread_{[this] { work(); }} {}

stall_watch::~stall_watch() {
  {
    const std::lock_guard lock{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void stall_watch::enlist(event_loop& loop) {
  const std::lock_guard lock{mutex_};
  loops_.push_back({.loop = &loop});
  dozes_ = false;
  changed_.notify_all();
}

void stall_watch::discharge(event_loop& loop) noexcept {
  const std::lock_guard lock{mutex_};
  std::erase_if(loops_, [&](const watched& each) { return each.loop == &loop; });
}

void stall_watch::rouse() noexcept {
  if (!dozes()) return;
  {
    const std::lock_guard lock{mutex_};
    dozes_ = false;
  }
  changed_.notify_all();
}

void stall_watch::work() {
  place_thread({.name = "stalls", .pin = pinning::never});
  std::unique_lock lock{mutex_};
  int restful = 0;  // looks in a row
  while (!changed_.wait_for(lock, limit_ / looks_within_limit, [this] { return ends_; })) {
    restful = look() ? 0 : restful + 1;
    if (restful < looks_until_doze) continue;
    doze(lock);
    restful = 0;
  }
}

/// Asks each loop to speak up when it works again, and waits for that. A loop that begins at this
/// very moment may not see it before its first piece of work returns.
void stall_watch::doze(std::unique_lock<std::mutex>& lock) {
  dozes_ = true;
  for (const watched& each : loops_)
    each.loop->pulse().is_overdue.store(true, std::memory_order_seq_cst);
  if (look()) dozes_ = false;
  changed_.wait(lock, [this] { return ends_ || !dozes(); });
}

/// Whether a loop has worked since the last look.
bool stall_watch::look() {
  const time_point now = std::chrono::steady_clock::now();
  bool works = false;
  try {
    for (watched& each : loops_) works |= look_at(each, now);
  } catch (const std::exception& why) {
    log::warning(std::string{"a task keeps its shard, and cannot be named: "} + why.what());
    return true;
  }
  return works;
}

bool stall_watch::look_at(watched& one, time_point now) {
  loop_pulse& pulse = one.loop->pulse();
  const std::uint64_t turn = one.loop->gauges().turns;
  const bool is_working = pulse.is_working.load(std::memory_order_relaxed);
  if (turn != one.turn || !is_working) {
    const bool has_worked = turn != one.turn;
    one.turn = turn;
    one.since = now;
    one.has_told = false;
    return has_worked;
  }
  const duration lasts = now - one.since;
  if (lasts >= limit_ && saturated_sum(one.asked_at, pause_between_warnings) <= now) {
    one.asked_at = now;
    pulse.is_overdue.store(true, std::memory_order_relaxed);
  }
  if (lasts < limit_ * limits_until_told || std::exchange(one.has_told, true)) return true;
  const std::string task = task_at_work(*one.loop);
  log::warning(weft::format("shard {} has been kept for {} so far by {}", one.loop->shard(),
                            in_milliseconds(lasts), task.empty() ? "what is no task" : task));
  return true;
}

std::string task_at_work(event_loop& loop) {
  const std::source_location from =
      loop.pulse().running->resumed_at.load(std::memory_order_relaxed);
  return from.line() == 0 ? std::string{} : "a task, resumed in " + describe(from);
}

void event_loop::tell_stall() noexcept {
  pulse_.is_overdue.store(false, std::memory_order_relaxed);
  if (options_.watched_by == nullptr) return;
  options_.watched_by->rouse();
  // The turn that was meant may have ended before this one began.
  const duration lasted = io_->now() - now_;
  if (lasted < options_.watched_by->limit()) return;
  try {
    const std::string task = task_at_work(*this);
    const await_chain chain = running_chain();
    std::string what = "what is no task: a timer, or a function posted from elsewhere";
    if (!task.empty())
      what = task + (chain.empty() ? ", which has ended" : ", now in " + describe_briefly(chain));
    log::warning(
        weft::format("shard {} was kept for {} by {}", shard(), in_milliseconds(lasted), what));
  } catch (const std::exception& why) {
    log::warning(std::string{"a task kept its shard, and cannot be named: "} + why.what());
  }
}

}  // namespace weft
