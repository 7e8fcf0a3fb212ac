// Three ways to use time: a wait that gives up, who of two is first, and a tick that goes on until
// it is told to stop.
//
//   timers
#include <chrono>
#include <cstdio>

#include <weft/coro/race.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>

namespace {

using namespace std::chrono_literals;

weft::task<weft::result<void>> work(weft::event_loop& loop, weft::duration length) {
  co_return co_await weft::sleep_for(loop, length);
}

// The next tick is due a period after the last one was, not after it was done: no tick drifts.
weft::task<void> tick(weft::event_loop& loop, weft::duration period, int& ticks) {
  weft::time_point due = loop.now();
  while (co_await weft::sleep_until{loop, due += period}) ++ticks;
}

weft::task<void> show(weft::event_loop& loop) {
  const auto late = co_await weft::with_timeout(5ms, work(loop, 1h));
  std::printf("an hour's work in 5 ms: %s\n", late ? "done" : late.error().message().c_str());

  const auto first = co_await weft::race(work(loop, 1h), work(loop, 5ms));
  std::printf("the first of two to end is number %zu\n", first.winner);

  int ticks = 0;
  weft::scope clock{co_await weft::this_task::environment()};
  clock.spawn(tick(loop, 2ms, ticks));
  while (ticks < 3)
    if (!co_await weft::sleep_for(loop, 1ms)) break;
  clock.request_stop();
  co_await clock.join();
  std::puts("ticked three times");
}

}  // namespace

int main() {
  auto loop = weft::event_loop::create({.backend = weft::backend_kind::automatic});
  if (!loop) return 1;
  (*loop)->spawn(show(**loop));
  (*loop)->run();
}
