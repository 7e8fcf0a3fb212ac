// A till and those who hear of what it sells: a function that counts, a coroutine that takes its
// time, and an interceptor that lets no free lunch pass.
//
//   events 3
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <system_error>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/service/event_bus.hpp>

namespace {

using namespace std::chrono_literals;

struct meal_sold {
  int number;
  int price;
};

/// The meal lives until this has ended.
weft::task<void> serve(weft::event_loop& loop, const meal_sold& meal) {
  if (co_await weft::sleep_for(loop, 10ms)) std::printf("meal %d is served\n", meal.number);
}

weft::task<void> sell(weft::event_bus& events, int meals) {
  for (int number = 0; number < meals; ++number) {
    const auto handled = co_await events.publish_and_wait(meal_sold{number, number * 5});
    if (handled) std::printf("meal %d: %u heard of it\n", number, *handled);
  }
  const auto stopped = co_await events.stop();
  if (!stopped) std::printf("events did not end: %s\n", stopped.error().message().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "3";
  int meals = 0;
  const auto read = std::from_chars(wanted.data(), wanted.data() + wanted.size(), meals);
  if (read.ec != std::errc{} || read.ptr != wanted.data() + wanted.size() || meals < 0) {
    std::fprintf(stderr, "events: \"%s\" is no number of meals\n", argv[1]);
    return 2;
  }
  auto loop = weft::event_loop::create({.backend = weft::backend_kind::automatic});
  if (!loop) return 1;
  weft::event_bus events{{}, **loop};

  int earned = 0;
  const auto till = events.on<meal_sold>([&](const meal_sold& meal) { earned += meal.price; });
  const auto kitchen =
      events.on<meal_sold>([&](const meal_sold& meal) { return serve(**loop, meal); });
  const auto guard = events.before<meal_sold>([](const meal_sold& meal) { return meal.price > 0; });

  (*loop)->spawn(sell(events, meals));
  (*loop)->run();
  std::printf("earned %d\n", earned);
}
