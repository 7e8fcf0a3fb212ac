#include <chrono>
#include <tuple>

#include <weft/coro/scope.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

/// Awaitable: until a letter to another shard of the host, or to this one, has been answered.
class round_trip : private runnable {
 public:
  round_trip(event_loop& home, event_loop& there) noexcept
      : runnable{&on_run}, home_{home}, there_{there} {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    std::ignore = there_.post([this] {
      std::ignore = home_.post([this] {
        ++answers_;
        home_.schedule(*this);
      });
    });
  }
  [[nodiscard]] int await_resume() const noexcept { return answers_; }

 private:
  static void on_run(runnable& self) noexcept { static_cast<round_trip&>(self).waiting_.resume(); }
  event_loop& home_;
  event_loop& there_;
  std::coroutine_handle<> waiting_;
  int answers_ = 0;
};

task<void> nap(scene& scene, testing::sim_shard& shard, duration length) {
  const time_point due = shard.loop().now() + length;
  const auto slept = co_await sleep_for(shard.loop(), length);
  const stop_token stop = (co_await this_task::environment()).stop;
  scene.world.expect(slept ? shard.loop().now() >= due : stop.stop_requested(),
                     "a sleep ends in time, or because it is called off");
}

}  // namespace

task<void> keep_time(scene& scene, testing::sim_shard& shard) {
  random& dice = scene.world.dice();
  const environment& env = co_await this_task::environment();
  while (!scene.has_enough() && !env.stop.stop_requested()) {
    scope naps{env};
    for (unsigned left = dice.between(1U, 4U); left > 0; --left)
      naps.spawn(nap(scene, shard, draw_duration(dice, 100ms)));
    auto& other = shard.host().shard(dice.below(shard.host().shards()));
    const int answers = co_await round_trip{shard.loop(), other.loop()};
    scene.world.expect(answers == 1, "a letter is delivered once");
    std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 50ms));
    if (dice.chance(1, 2)) naps.request_stop();
    co_await naps.join();
  }
}

}  // namespace weft::simulation
