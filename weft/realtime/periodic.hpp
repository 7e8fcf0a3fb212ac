// Work that is due at fixed times, and what became of each run.
//
// Problem: a loop of sleeps drifts, and says nothing of the runs that began or ended late.
// Contract: releases are due at start + phase + n * period, counted from the start for ever: no
// time that a run takes moves a later one. A release wakes its task before what is less urgent on
// the loop (priority::critical), to the nanosecond the kernel gives (arm_exactly()); of several
// that are released the one with the nearest deadline runs first. A run lasts from the release that
// next() gave until the next call of next(). What is overrun is up to `overrun`, and whoever has
// overrun is released in the loop's next turn, so that others get theirs; a run that ends later
// than `deadline` after it was due is a miss, and the handler is told why. next() ends early with
// errc::cancelled when the task is asked to stop, with errc::timed_out when its own deadline
// passes. After the construction nothing allocates; each period costs four system calls beside the
// wait (thread_usage.hpp, queue_wait.hpp), three as a run begins and one as it ends; a miss costs
// three more, and those that throttle_watch::find() needs to tell what throttled it. Outlives its
// runs, and not the loop; one task's. To make one reads what the kernel limits realtime threads to,
// and warns in the log if all of the loop's together want more than there is (utilisation.hpp); so
// does, once, a run that takes longer than any before.
//
//   realtime::periodic clock{loop, {.period = 1ms}};
//   while (const auto release = co_await clock.next()) control(release->number);
//   clock.record().latency.percentile(99.99);  // nanoseconds
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>

#include <weft/base/literal_text.hpp>
#include <weft/base/result.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/environment.hpp>
#include <weft/coro/timer.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/realtime/deadline_miss.hpp>
#include <weft/realtime/periodic_group.hpp>
#include <weft/realtime/thread_usage.hpp>
#include <weft/realtime/throttling.hpp>
#include <weft/telemetry/distribution.hpp>

namespace weft::realtime {

/// What becomes of releases that come while a run still lasts.
enum class overrun_policy : std::uint8_t {
  skip,      // they have no run; the next one is the first that is due in the future
  catch_up,  // each has its run, one in each turn of the loop
  notify,    // the last of them has its run in the next turn, and is told how many had none
};

struct periodic_options {
  /// More than zero; at most fifty years, as are phase and start.
  duration period{};
  /// Within which a run is to end, from when it was due; zero: the period.
  duration deadline{};
  /// The first release is due so much after the start.
  duration phase{};
  /// None: when next() is called first. One that several tasks share, such as the loop's now() when
  /// they are made, puts their releases on one grid; those before next() is called are overrun.
  std::optional<time_point> start{};
  overrun_policy overrun = overrun_policy::skip;
  /// What a run takes of a processor at worst, where that is known before it is measured.
  duration execution{};
  /// For people.
  literal_text name{};
};

struct release {
  /// Of its period, from 0 on: those without a run count.
  std::uint64_t number = 0;
  time_point due{};
  time_point woken{};
  /// Periods since the run before that had none.
  std::uint64_t skipped = 0;

  [[nodiscard]] duration latency() const noexcept { return woken - due; }
};

/// Of all runs that have ended; lengths in nanoseconds.
struct periodic_record {
  std::uint64_t runs = 0;
  std::uint64_t skipped = 0;
  std::uint64_t misses = 0;
  telemetry::distribution latency;    // from when they were due until they began
  telemetry::distribution response;   // until they ended
  telemetry::distribution execution;  // on a processor
};

class periodic {
 public:
  using miss_handler = unique_function<void(const deadline_miss&)>;

  /// Throws std::invalid_argument for options that are not as they say.
  periodic(event_loop& loop, const periodic_options& options);
  periodic(const periodic&) = delete;
  periodic& operator=(const periodic&) = delete;

  /// Called within next(), before it waits: is to be quick, and not to throw.
  void on_miss(miss_handler handler) noexcept { tell_miss_ = std::move(handler); }

  class [[nodiscard]] next_wait;
  /// Ends the run, and waits for the next release.
  next_wait next() noexcept;

  /// Up to the last call of next().
  [[nodiscard]] const periodic_record& record() const noexcept { return record_; }
  [[nodiscard]] const periodic_options& options() const noexcept { return options_; }
  [[nodiscard]] const throttle_limits& limits() const noexcept { return throttling_.limits(); }

 private:
  /// When the loop knew of a release, and how.
  struct wakeup {
    time_point seen;
    bool was_waiting;
  };

  [[nodiscard]] time_point due_at(std::uint64_t number) const noexcept;
  [[nodiscard]] std::uint64_t last_due_by(time_point now) const noexcept;
  [[nodiscard]] duration own_run_since(time_point due) const noexcept;
  void end_run();
  void plan(time_point now) noexcept;
  void begin_run(const wakeup& by) noexcept;
  void explain(deadline_miss& run) const noexcept;
  /// In simulated time nothing that a thread has used says anything.
  [[nodiscard]] bool is_measured() const noexcept { return loop_.has_threads(); }
  [[nodiscard]] run_shares usual() const noexcept;

  event_loop& loop_;
  periodic_options options_;
  throttle_watch throttling_;
  periodic_member member_;
  std::optional<time_point> first_due_;  // none before the start
  miss_handler tell_miss_;
  std::uint64_t next_number_ = 0;
  release now_{};      // the run that lasts, or the one that is waited for
  bool runs_ = false;  // since next() gave it
  bool is_awaited_ = false;
  run_shares shares_{};  // of it
  run_predecessors before_{};
  time_point last_begun_{};  // the run before it, and when that ended
  time_point last_ended_{};
  bool is_overrun_ = false;  // one was due before it was waited for
  run_shares in_time_{};     // of all that have ended within their deadline
  thread_usage begun_with_{};
  std::optional<duration> queued_before_{};
  periodic_record record_;
};

class [[nodiscard]] periodic::next_wait : private timer,
                                          private stop_registration,
                                          private released_task {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    return begin(waiting, *waiting.promise().env);
  }
  [[nodiscard]] result<release> await_resume();

 private:
  friend class periodic;
  explicit next_wait(periodic& of) noexcept
      : timer{kind}, stop_registration{&on_stop}, released_task{&on_arm, &on_resume}, of_{of} {}

  bool begin(std::coroutine_handle<> waiting, const environment& env) noexcept;
  void wake(result<void> outcome) noexcept;
  static void on_timer(timer& self) noexcept;
  static void on_stop(stop_registration& self) noexcept;
  static void on_arm(released_task& self) noexcept;
  static void on_resume(released_task& self) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const next_wait&>(self).waiting_;
  }
  static constexpr timer_kind kind{
      .on_expiry = &on_timer, .name = "release of a periodic task", .owner = &owner_of};

  periodic& of_;
  std::coroutine_handle<> waiting_;
  wakeup by_{};
  bool deadline_first_ = false;
  result<void> outcome_;
};

}  // namespace weft::realtime
