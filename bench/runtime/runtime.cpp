// What the runtime itself charges, without a network: prints JSON.
//
//   bench_runtime                       all of it
//   bench_runtime timers                one part: round_trip, spawn, sleep, timers or deferred_log
//   bench_runtime timers 1000           once, with so many live timers: to count instructions,
//   valgrind --tool=callgrind --toggle-collect='*arm_and_cancel_each*' bench_runtime timers 1000
//
// Each part runs several times; its number is the median of the runs.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include <weft/base/random.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/runtime.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/realtime/deferred_log.hpp>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr unsigned runs = 5;
constexpr unsigned a_million = 1'000'000;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double nanoseconds_since(clock_type::time_point start) {
  return static_cast<double>(std::chrono::nanoseconds{clock_type::now() - start}.count());
}

class report {
 public:
  report() { std::printf("{"); }
  report(const report&) = delete;
  report& operator=(const report&) = delete;
  ~report() { std::printf("\n}\n"); }
  void add(std::string_view name, double value) {
    std::printf("%s\n  \"%.*s\": %.1f", std::exchange(first_, false) ? "" : ",",
                static_cast<int>(name.size()), name.data(), value);
    std::fflush(stdout);
  }

 private:
  bool first_ = true;
};

/// Runs `work` to its end on a loop of its own.
template <class Work>
void on_own_loop(Work work) {
  auto loop = weft::event_loop::create();
  if (!loop) std::abort();
  (*loop)->spawn(work(**loop));
  (*loop)->run();
}

// A function is called on the other shard, and its answer awaited.

struct percentiles {
  double p50;
  double p99;
};

weft::task<void> time_calls(std::vector<double>& each, unsigned calls) {
  for (unsigned i = 0; i < calls; ++i) {
    const auto start = clock_type::now();
    const auto answer = co_await weft::on(1, [i] { return i; });
    if (!answer || *answer != i) std::abort();
    each.push_back(nanoseconds_since(start));
  }
}

weft::task<void> time_round_trips(weft::event_loop& loop, weft::runtime& shards,
                                  std::vector<double>& each, unsigned calls) {
  if (loop.shard() != 0) co_return;
  std::vector<double> warm_up;
  co_await time_calls(warm_up, calls / 10);
  co_await time_calls(each, calls);
  shards.request_stop();
}

percentiles round_trip(weft::idle_policy idle) {
  constexpr unsigned calls = 20'000;
  std::vector<double> middle;
  std::vector<double> late;
  for (unsigned run = 0; run < runs; ++run) {
    weft::runtime shards{{.shards = 2, .loop = {.idle = idle}}};
    std::vector<double> each;
    each.reserve(calls);
    const auto ended = shards.run(
        [&](weft::event_loop& loop) { return time_round_trips(loop, shards, each, calls); });
    if (!ended) std::abort();
    std::ranges::sort(each);
    middle.push_back(each[calls / 2]);
    late.push_back(each[calls - calls / 100]);
  }
  return {.p50 = median(middle), .p99 = median(late)};
}

void round_trips(report& out) {
  const percentiles sleeping = round_trip(weft::idle_policy::sleep());
  out.add("round_trip_sleeping_p50_ns", sleeping.p50);
  out.add("round_trip_sleeping_p99_ns", sleeping.p99);
  const percentiles spinning = round_trip(weft::idle_policy::spin());
  out.add("round_trip_spinning_p50_ns", spinning.p50);
  out.add("round_trip_spinning_p99_ns", spinning.p99);
}

weft::task<void> call_often(unsigned calls) {
  for (unsigned i = 0; i < calls; ++i)
    if (!co_await weft::on(1, [i] { return i; })) std::abort();
}

/// What a call costs when many are under way: 64 callers.
weft::task<void> time_bulk(weft::event_loop& loop, weft::runtime& shards,
                           std::vector<double>& each) {
  constexpr unsigned callers = 64;
  constexpr unsigned calls = 20'000;
  if (loop.shard() != 0) co_return;
  const auto start = clock_type::now();
  weft::scope all{loop.root()};
  for (unsigned i = 0; i < callers; ++i) all.spawn(call_often(calls));
  co_await all.join();
  each.push_back(nanoseconds_since(start) / (callers * calls));
  shards.request_stop();
}

void calls_in_bulk(report& out) {
  std::vector<double> each;
  for (unsigned run = 0; run < runs; ++run) {
    weft::runtime shards{{.shards = 2}};
    const auto ended =
        shards.run([&](weft::event_loop& loop) { return time_bulk(loop, shards, each); });
    if (!ended) std::abort();
  }
  out.add("call_of_64_at_once_ns", median(each));
}

// An empty task is spawned, and its end awaited.

weft::task<void> nothing() { co_return; }

weft::task<void> time_tasks(weft::event_loop& loop, std::vector<double>& each) {
  constexpr unsigned tasks = 1'000'000;
  const auto start = clock_type::now();
  for (unsigned i = 0; i < tasks; ++i) {
    weft::scope one{loop.root()};
    one.spawn(nothing());
    co_await one.join();
  }
  each.push_back(nanoseconds_since(start) / tasks);
}

void spawn_and_join(report& out) {
  std::vector<double> each;
  for (unsigned run = 0; run < runs; ++run)
    on_own_loop([&](weft::event_loop& loop) { return time_tasks(loop, each); });
  out.add("spawn_join_ns", median(each));
}

// A task sleeps for an hour, is asked to stop, and is joined.

weft::task<void> sleep_long(weft::event_loop& loop) {
  if (co_await weft::sleep_for(loop, 1h)) std::abort();
}

weft::task<void> time_sleeps(weft::event_loop& loop, std::vector<double>& each) {
  constexpr unsigned sleeps = 500'000;
  const auto start = clock_type::now();
  for (unsigned i = 0; i < sleeps; ++i) {
    weft::scope one{loop.root()};
    one.spawn(sleep_long(loop));
    co_await weft::yield{loop};
    one.request_stop();
    co_await one.join();
  }
  each.push_back(nanoseconds_since(start) / sleeps);
}

void cancelled_sleep(report& out) {
  std::vector<double> each;
  for (unsigned run = 0; run < runs; ++run)
    on_own_loop([&](weft::event_loop& loop) { return time_sleeps(loop, each); });
  out.add("cancelled_sleep_ns", median(each));
}

// A timer is armed and disarmed again, while so many others are armed.

struct idle_timer : weft::timer {
  idle_timer() noexcept : timer{idling} {}
  static constexpr weft::timer_kind idling{.on_expiry = [](weft::timer&) noexcept {},
                                           .name = "nothing"};
};

class armed_crowd {
 public:
  explicit armed_crowd(unsigned count)
      : count_{count}, wheel_{start_}, timers_{std::make_unique<idle_timer[]>(count)} {
    weft::random random{1};
    for (unsigned i = 0; i < count_; ++i)
      due_.push_back(start_ +
                     std::chrono::milliseconds{static_cast<long>(random.below(86'400'000))});
  }

  [[gnu::noinline]] void arm_all() noexcept {
    for (unsigned i = 0; i < count_; ++i) wheel_.arm(timers_[i], due_[i]);
  }
  [[gnu::noinline]] void cancel_all() noexcept {
    for (unsigned i = 0; i < count_; ++i) wheel_.disarm(timers_[i]);
  }
  /// With all the others armed.
  [[gnu::noinline]] void arm_and_cancel_each() noexcept {
    for (unsigned i = 0; i < count_; ++i) {
      wheel_.disarm(timers_[i]);
      wheel_.arm(timers_[i], due_[i]);
    }
  }

 private:
  unsigned count_;
  weft::time_point start_{std::chrono::hours{1}};
  weft::timer_wheel wheel_;
  std::unique_ptr<idle_timer[]> timers_;
  std::vector<weft::time_point> due_;
};

void timers(report& out, unsigned live, unsigned rounds) {
  std::vector<double> armed;
  std::vector<double> cancelled;
  std::vector<double> both;
  armed_crowd crowd{live};
  const auto time = [live](std::vector<double>& into, auto work) {
    const auto start = clock_type::now();
    work();
    into.push_back(nanoseconds_since(start) / live);
  };
  for (unsigned run = 0; run < rounds; ++run) {
    time(armed, [&] { crowd.arm_all(); });
    time(both, [&] { crowd.arm_and_cancel_each(); });
    time(cancelled, [&] { crowd.cancel_all(); });
  }
  out.add("timer_arm_ns", median(armed));
  out.add("timer_cancel_ns", median(cancelled));
  out.add("timer_arm_and_cancel_each_ns", median(both));
}

/// As tasks do it, of the loop and for a time that is drawn then, while a million others are armed,
/// spread over a day.
weft::task<void> time_timers(weft::event_loop& loop, std::vector<double>& each) {
  weft::random random{1};
  const auto some_day = [&] {
    return loop.now() + 1h + std::chrono::milliseconds{static_cast<long>(random.below(86'400'000))};
  };
  const auto crowd = std::make_unique<idle_timer[]>(a_million);
  for (unsigned i = 0; i < a_million; ++i) loop.arm(crowd[i], some_day());
  for (unsigned run = 0; run < runs; ++run) {
    const auto start = clock_type::now();
    for (unsigned i = 0; i < a_million; ++i) {
      idle_timer one;
      loop.arm(one, some_day());
      loop.disarm(one);
    }
    each.push_back(nanoseconds_since(start) / a_million);
  }
  for (unsigned i = 0; i < a_million; ++i) loop.disarm(crowd[i]);
  co_return;
}

void timers_of_a_loop(report& out) {
  std::vector<double> each;
  on_own_loop([&](weft::event_loop& loop) { return time_timers(loop, each); });
  out.add("timer_among_many_ns", median(each));
}

/// So many lines, with a number and a text, which find room.
[[gnu::noinline]] void leave_lines(weft::realtime::deferred_log& log, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    log.write(weft::log::level::info, "valve {} is {}", i, "open");
}

void deferred_lines(report& out) {
  constexpr unsigned lines = 1U << 14U;
  weft::log::set_sink([](weft::log::level, std::string_view, void*) {}, nullptr);
  std::vector<double> each;
  for (unsigned run = 0; run < runs; ++run) {
    weft::realtime::deferred_log log{{.lines = lines}};
    const auto start = clock_type::now();
    leave_lines(log, lines);
    each.push_back(nanoseconds_since(start) / lines);
    if (log.lost() != 0) std::abort();
  }
  weft::log::set_sink(nullptr, nullptr);
  out.add("deferred_log_line_ns", median(each));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "all";
  const auto wanted = [part](std::string_view name) { return part == "all" || part == name; };
  report out;
  if (wanted("round_trip")) round_trips(out);
  if (wanted("bulk")) calls_in_bulk(out);
  if (wanted("spawn")) spawn_and_join(out);
  if (wanted("sleep")) cancelled_sleep(out);
  if (wanted("deferred_log")) deferred_lines(out);
  if (wanted("timers")) {
    const bool is_counted = argc > 2;
    const unsigned live =
        is_counted ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 0;
    timers(out, live != 0 ? live : a_million, is_counted ? 1 : runs);
    if (!is_counted) timers_of_a_loop(out);
  }
  return 0;
}
