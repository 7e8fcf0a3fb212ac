#include "event_workload.hpp"

#include <algorithm>
#include <memory>

#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/event_bus.hpp>

#include "workload_loop.hpp"

namespace weft::bench {
namespace {

struct useless {};
struct last {};

event_options bounds_of(const workload_options& options) {
  const std::uint64_t all = options.count + 1;  // and the last
  const std::uint64_t capacity = options.capacity != 0 ? options.capacity : all;
  return {.capacity = capacity, .bound = std::max(capacity, all)};
}

task<void> publish_as_there_is_room(event_bus& events, std::uint64_t count, bool& is_right) {
  for (std::uint64_t i = 0; i < count; ++i) {
    is_right &= (co_await events.publish_when_room(useless{})).has_value();
  }
  is_right &= (co_await events.publish_when_room(last{})).has_value();
}

/// As a service does when it starts, in one go.
task<void> publish_at_once(event_bus& events, std::uint64_t count, bool& is_right) {
  for (std::uint64_t i = 0; i < count; ++i) is_right &= events.publish(useless{}).has_value();
  is_right &= events.publish(last{}).has_value();
  co_return;
}

task<void> begin_round(event& round, std::uint64_t& coroutines) {
  ++coroutines;
  round.set();
  co_return;
}

task<void> resume_all(std::uint64_t count, std::uint64_t& coroutines, bool& is_right) {
  scope rounds{co_await this_task::environment()};
  event round;
  for (std::uint64_t i = 0; i < count; ++i) {
    rounds.spawn(begin_round(round, coroutines));
    is_right &= (co_await round.wait()).has_value();
    round.reset();
  }
  co_await rounds.join();
}

}  // namespace

workload_share run_events(const workload_options& options) {
  const std::unique_ptr<event_loop> loop = make_workload_loop();
  event_bus events{bounds_of(options), *loop};
  workload_share done;
  std::uint64_t told_before_last = 0;
  const auto heard = events.on<last>(
      [&](const last&) { told_before_last = events.statistics_of<useless>().told; });
  if (options.capacity == 0)
    loop->spawn(publish_at_once(events, options.count, done.is_right));
  else
    loop->spawn(publish_as_there_is_room(events, options.count, done.is_right));
  loop->run();
  done.dispatched = events.statistics_of<useless>().told;
  done.is_right =
      done.is_right && told_before_last == options.count && done.dispatched == options.count;
  done.queue_bytes_max = events.queue_bytes_max();
  return done;
}

workload_share run_coroutines(const workload_options& options) {
  const std::unique_ptr<event_loop> loop = make_workload_loop();
  workload_share done;
  loop->spawn(resume_all(options.count, done.dispatched, done.is_right));
  loop->run();
  done.is_right = done.is_right && done.dispatched == options.count;
  return done;
}

}  // namespace weft::bench
