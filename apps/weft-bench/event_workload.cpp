#include "event_workload.hpp"

#include <algorithm>
#include <memory>

#include <weft/coro/event.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/service/event_bus.hpp>

#include "workload_loop.hpp"

namespace weft::bench {
namespace {

struct useless {};
struct last {};
struct next_round {};

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

task<void> resume_all(event_bus& events, event& round, std::uint64_t count, bool& is_right) {
  for (std::uint64_t i = 0; i < count; ++i) {
    is_right &= events.publish(next_round{}).has_value();
    is_right &= (co_await round.wait()).has_value();
    round.reset();
  }
}

task<void> begin_round(event& round, std::uint64_t& coroutines) {
  ++coroutines;
  round.set();
  co_return;
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
  event_bus events{{}, *loop};
  workload_share done;
  event round;
  std::uint64_t coroutines = 0;
  const auto heard =
      events.on<next_round>([&](const next_round&) { return begin_round(round, coroutines); });
  loop->spawn(resume_all(events, round, options.count, done.is_right));
  loop->run();
  done.dispatched = events.statistics_of<next_round>().told;
  done.is_right = done.is_right && coroutines == options.count && done.dispatched == options.count;
  done.queue_bytes_max = events.queue_bytes_max();
  return done;
}

}  // namespace weft::bench
