#include <chrono>
#include <tuple>

#include <weft/coro/scope.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/sharded.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

/// One call, as both sides see it.
struct call {
  std::uint64_t id;
  duration takes{};  // over there
  unsigned begun = 0;
  unsigned ended = 0;
  bool is_called_off = false;  // over there, as when that shard is asked to stop
};

task<result<std::string>> work(call& self) {
  ++self.begun;
  const auto slept = co_await sleep_for(event_loop::current(), self.takes);
  ++self.ended;
  self.is_called_off = (co_await this_task::environment()).stop.stop_requested();
  if (!slept) co_return fail(slept.error());
  co_return pattern(self.id, 24);
}

/// What one shard calls on others.
class caller {
 public:
  caller(scene& scene, testing::sim_shard& shard) noexcept
      : scene_{scene}, shard_{shard}, dice_{scene.world.dice()} {}

  /// A function, which is done when it arrives.
  task<void> ask(unsigned to, std::uint64_t& latest) {
    const std::uint64_t id = ++scene_.last_call;
    unsigned runs = 0;
    bool in_order = true;
    const auto answer = co_await on(to, [&] {
      ++runs;
      in_order = std::exchange(latest, id) < id;
      return pattern(id, 24);
    });
    expect(in_order, "calls of one shard to another run in their order");
    expect(runs == (answer ? 1 : 0), "a call runs once, or is not answered");
    expect(!answer || *answer == pattern(id, 24), "the answer is the one to the call");
    if (!answer) co_await expect_reason(answer.error());
    ++scene_.seen.calls;
  }

  /// A coroutine, which takes its time over there.
  task<void> let_work(unsigned to) {
    call one{.id = ++scene_.last_call, .takes = draw_duration(dice_, 30ms)};
    const time_point due = shard_.loop().now() + one.takes;
    const auto answer = co_await on(to, [&one] { return work(one); });
    expect(one.begun == one.ended && one.begun <= 1, "who called waits until the call has ended");
    expect(!answer || shard_.loop().now() >= due, "an answer comes when the work is done");
    expect(!answer || *answer == pattern(one.id, 24), "the answer is the one to the call");
    if (!answer && !one.is_called_off) co_await expect_reason(answer.error());
    ++scene_.seen.calls;
  }

  task<void> ask_all() {
    const auto who = co_await on_all([] { return event_loop::current().shard(); });
    if (!who) {
      co_await expect_reason(who.error());
      co_return;
    }
    for (unsigned i = 0; i < who->size(); ++i) expect((*who)[i] == i, "each shard answers once");
  }

  /// Many at once, more than a ring holds now and then, perhaps called off.
  task<void> burst(unsigned to) {
    std::uint64_t latest = 0;  // has arrived over there
    environment env = co_await this_task::environment();
    if (dice_.chance(1, 4))
      env.until = deadline::at(shard_.loop().now() + draw_duration(dice_, 20ms));
    scope calls{env};
    const unsigned most = dice_.chance(1, 16) ? 400 : 6;
    for (unsigned left = dice_.between(1U, most); left > 0; --left) calls.spawn(ask(to, latest));
    for (unsigned left = dice_.between(0U, 3U); left > 0; --left) calls.spawn(let_work(to));
    if (dice_.chance(1, 4)) {
      if (dice_.chance(1, 2))
        std::ignore = co_await sleep_for(shard_.loop(), draw_duration(dice_, 10ms));
      calls.request_stop();
    }
    co_await calls.join();
  }

 private:
  void expect(bool holds, std::string_view what) {
    scene_.world.expect(holds || shard_.crashed(), what);
  }
  task<void> expect_reason(error why) {
    const environment& env = co_await this_task::environment();
    expect(why == errc::cancelled ? env.stop.stop_requested()
                                  : why == errc::timed_out && env.until.passed(shard_.loop().now()),
           "a call fails because it is called off or out of time");
  }

  scene& scene_;
  testing::sim_shard& shard_;
  random& dice_;
};

struct tally {
  std::uint64_t calls = 0;
};

/// One number on each shard: none is lost, and none counted twice.
task<void> count_on_all(scene& scene, testing::sim_shard& shard) {
  sharded<tally> tallies;
  const auto made = co_await tallies.start([](unsigned) { return tally{}; });
  if (made) {
    const unsigned rounds = scene.world.dice().between(1U, 4U);
    unsigned done = 0;
    for (; done < rounds; ++done)
      if (!co_await tallies.broadcast([](tally& each) { ++each.calls; })) break;
    const auto counts = co_await tallies.map([](tally& each) { return each.calls; });
    for (std::size_t i = 0; counts && done == rounds && i < counts->size(); ++i)
      scene.world.expect((*counts)[i] == rounds || shard.crashed(),
                         "a broadcast reaches each shard once");
  }
  co_await tallies.stop();
}

/// Outlives its main, and so perhaps the shards that it calls.
task<void> say_goodbye(scene& scene, testing::sim_shard& shard, unsigned shards) {
  for (unsigned i = 0; i < 3 * shards; ++i) {
    const auto heard = co_await on(i % shards, [] {});
    scene.world.expect(heard || heard.error() == errc::closed,
                       "a call is answered, or its shard has ended");
    std::ignore = co_await sleep_for(shard.loop(), draw_duration(scene.world.dice(), 100us));
  }
}

}  // namespace

task<void> call_shards(scene& scene, testing::sim_shard& shard) {
  random& dice = scene.world.dice();
  const stop_token stop = (co_await this_task::environment()).stop;
  caller self{scene, shard};
  const auto shards = static_cast<unsigned>(shard.host().shards());
  while (!scene.has_enough() && !stop.stop_requested()) {
    switch (dice.below(4)) {
      case 0: co_await self.ask_all(); break;
      case 1: co_await count_on_all(scene, shard); break;
      default: co_await self.burst(static_cast<unsigned>(dice.below(shards)));
    }
    std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 50ms));
  }
  shard.loop().spawn(shielded(say_goodbye(scene, shard, shards), deadline::never()));
}

}  // namespace weft::simulation
