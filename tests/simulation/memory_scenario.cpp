#include "memory_scenario.hpp"

#include <chrono>
#include <memory>
#include <tuple>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/sim_world.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using testing::sim_shard;
using testing::sim_world;

constexpr std::size_t slice = memory_budget::slice_bytes;
constexpr unsigned customers = 6;
constexpr unsigned readers = 3;
constexpr unsigned rounds = 12;

struct memory_scene {
  sim_world& world;
  memory_budget budget{16 * slice};
  std::vector<std::unique_ptr<memory_share>> shares{};
  memory_outcome seen{};
};

memory_priority draw_priority(random& dice) {
  return dice.chance(1, 2)   ? memory_priority::low
         : dice.chance(1, 2) ? memory_priority::normal
                             : memory_priority::high;
}

task<void> reserve_once(memory_scene& scene, memory_share& from, event_loop& loop) {
  random& dice = scene.world.dice();
  const memory_priority as = draw_priority(dice);
  const std::size_t bytes = dice.between(std::size_t{1}, 6 * slice);
  if (auto at_once = from.try_reserve(memory_kind::bodies, bytes, as)) {
    scene.world.expect(scene.budget.taken() <= scene.budget.ceiling(as),
                       "what is reserved at once is within its ceiling");
    ++scene.seen.reserved;
    std::ignore = co_await sleep_for(loop, draw_duration(dice, 20ms));
    if (dice.chance(1, 4)) at_once.shrink(at_once.bytes() / 2);
    std::ignore = co_await sleep_for(loop, draw_duration(dice, 20ms));
    co_return;
  }
  const bool is_called_off = dice.chance(1, 3);
  const duration patience = draw_duration(dice, 300ms);
  const time_point due = loop.now() + patience;
  stop_source off;
  scope waiting{environment{.stop = off.token(), .runs_on = &loop}};
  bool has_ended = false;
  waiting.spawn([](memory_scene& in, memory_share& at, event_loop& on, std::size_t size_bytes,
                   memory_priority wanted, duration most, time_point until, stop_token stop,
                   bool& ended) -> task<void> {
    const auto memory =
        co_await with_timeout(most, reserve_memory(at, memory_kind::bodies, size_bytes, wanted));
    ended = true;
    if (memory) {
      ++in.seen.waited;
      in.seen.given_before_call += stop.stop_requested() ? 1 : 0;
      in.world.expect(memory->bytes() == size_bytes, "who waits gets what was asked for");
      std::ignore = co_await sleep_for(on, draw_duration(in.world.dice(), 10ms));
    } else if (memory.error() == errc::timed_out) {
      ++in.seen.timed_out;
      in.world.expect(on.now() >= until, "nobody is refused before the time");
    } else {
      ++in.seen.called_off;
      in.world.expect(stop.stop_requested(), "only who is called off is");
    }
  }(scene, from, loop, bytes, as, patience, due, off.token(), has_ended));
  if (is_called_off) {
    std::ignore = co_await sleep_for(loop, draw_duration(dice, 100ms));
    off.request_stop();
  }
  co_await waiting.join();
  scene.world.expect(has_ended, "each wait ends");
}

task<void> be_customer(memory_scene& scene, memory_share& from, event_loop& loop) {
  random& dice = scene.world.dice();
  for (unsigned left = rounds; left > 0; --left) {
    co_await reserve_once(scene, from, loop);
    std::ignore = co_await sleep_for(loop, draw_duration(dice, 10ms));
  }
}

/// Takes nothing for a while, and is dropped meanwhile or not.
struct sim_reader : slow_peer {
  static std::size_t held(slow_peer& self) noexcept {
    return static_cast<sim_reader&>(self).memory.bytes();
  }
  static void dropped(slow_peer& self) noexcept { ++static_cast<sim_reader&>(self).drops; }
  static constexpr slow_peer_kind kind{.held_bytes = &held, .drop = &dropped};

  memory_reservation memory;
  unsigned drops = 0;
};

task<void> be_reader(memory_scene& scene, memory_share& from, event_loop& loop) {
  random& dice = scene.world.dice();
  for (unsigned left = rounds; left > 0; --left) {
    sim_reader who;
    who.memory = from.hold(memory_kind::output, dice.between(std::size_t{1}, 4 * slice));
    from.note_stalled(who, sim_reader::kind);
    const duration most = dice.chance(1, 4) ? duration{1s} : duration{50ms};
    const time_point until = loop.now() + draw_duration(dice, most);
    while (who.drops == 0 && loop.now() < until)
      std::ignore = co_await sleep_for(loop, draw_duration(dice, 10ms) + 1ms);
    scene.world.expect(who.drops <= 1, "nobody is dropped twice");
    if (who.drops == 0) from.note_progress(who);
    // The kernel lets go of it a little later.
    if (who.drops != 0) std::ignore = co_await sleep_for(loop, draw_duration(dice, 5ms));
    scene.seen.dropped += who.drops;
  }
}

task<void> use_memory(memory_scene& scene, sim_shard& shard) {
  event_loop& loop = shard.loop();
  memory_share& mine =
      *scene.shares.emplace_back(std::make_unique<memory_share>(scene.budget, loop));
  scope work{environment{.runs_on = &loop}};
  for (unsigned i = 0; i < customers; ++i) work.spawn(be_customer(scene, mine, loop));
  for (unsigned i = 0; i < readers; ++i) work.spawn(be_reader(scene, mine, loop));
  co_await work.join();
  const memory_gauges left = mine.gauges();
  for (const std::uint64_t each : left.bytes)
    scene.world.expect(each == 0, "all that was taken is given back");
  mine.leave();
  // What others have asked of it meanwhile is heard before it ends.
  std::ignore = co_await sleep_for(loop, 1ms);
}

}  // namespace

memory_outcome& memory_outcome::operator+=(const memory_outcome& more) noexcept {
  reserved += more.reserved;
  waited += more.waited;
  timed_out += more.timed_out;
  called_off += more.called_off;
  given_before_call += more.given_before_call;
  dropped += more.dropped;
  return *this;
}

memory_outcome run_memory_scenario(std::uint64_t seed) {
  sim_world world{seed};
  memory_scene scene{.world = world};
  for (unsigned i = 0; i < 2; ++i)
    world.add_host("server", world.dice().between(1U, 2U)).runs([&](sim_shard& shard) {
      return use_memory(scene, shard);
    });
  world.run();
  scene.shares.clear();
  world.expect(scene.budget.taken() == 0, "the budget has all of it again");
  scene.seen.fingerprint = world.fingerprint();
  return scene.seen;
}

}  // namespace weft::simulation
