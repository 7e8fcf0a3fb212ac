// Events, and a periodic task that is released meanwhile.
#include <weft/service/event_bus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include <weft/coro/deadline.hpp>
#include <weft/realtime/periodic.hpp>
#include <weft/service/event_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

/// None: those with a deadline.
using lane = std::optional<priority>;

class event_release_test : public loop_fixture,
                           public ::testing::WithParamInterface<std::tuple<backend_kind, lane>> {
 protected:
  void SetUp() override { open({.backend = std::get<0>(GetParam())}); }
  result<void> publish(event_bus& bus) {
    const lane into = std::get<1>(GetParam());
    return into ? bus.publish(ping{}, *into) : bus.publish(ping{}, deadline::at(loop_->now() + 1h));
  }
};
INSTANTIATE_TEST_SUITE_P(backends, event_release_test,
                         ::testing::Combine(kernel_backends,
                                            ::testing::Values(lane{}, priority::critical,
                                                              priority::high, priority::idle)));

TEST_P(event_release_test, goes_before_the_next_event) {
  event_bus bus{{}, *loop_};
  std::vector<time_point> begun;
  const auto heard = bus.on<ping>([&](const ping&) {
    begun.push_back(std::chrono::steady_clock::now());
    while (std::chrono::steady_clock::now() < begun.back() + 200us) {}
  });
  result<realtime::release> released;
  std::size_t published = 0;
  const auto was_in_time = [&] {
    return released && !begun.empty() && begun.front() < released->due;
  };
  const auto work = [&]() -> task<void> {
    realtime::periodic clock{*loop_, {.period = 5ms}};
    std::ignore = co_await clock.next();
    // One that was due before it was asked for, however little, lets others go before.
    for (int more = 50; more > 0 && !was_in_time(); --more) {
      while (begun.size() < published) co_await yield{*loop_};
      begun.clear();
      for (published = 0; published < 200; ++published) EXPECT_TRUE(publish(bus));
      released = co_await clock.next();
    }
    EXPECT_TRUE(co_await bus.stop());
  };
  loop_->spawn(work());
  loop_->run();
  EXPECT_EQ(begun.size(), 200U);
  ASSERT_TRUE(was_in_time()) << "too slow a machine";
  const auto late = std::ranges::count_if(
      begun, [&](time_point each) { return each > released->due && each < released->woken; });
  const bool is_in_one_line = std::get<1>(GetParam()) == priority::critical;
  EXPECT_LE(late, is_in_one_line ? 2 : 1) << "one may begin as it falls due";
}

}  // namespace
}  // namespace weft
