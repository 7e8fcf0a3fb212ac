// What the warm path asks of the heap: nothing.
#include <gtest/gtest.h>

#include <weft/base/poison.hpp>
#include <weft/service/event_fixture_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using event_allocation_test = event_fixture;

TEST_F(event_allocation_test, a_function_hears_of_events_without_an_allocation) {
  long sum = 0;
  const auto heard = events().on<numbered>([&](const numbered& e) { sum += e.number; });
  const auto tell = [&] {
    for (int i = 0; i < 1000; ++i) {
      events().publish(numbered{1});
      events().publish(numbered{1}, priority::high);
      if (i % 10 == 0) settle();
    }
    settle();
  };
  tell();
  const testing::allocation_counter since;
  tell();
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(sum, 4000);
}

TEST_F(event_allocation_test, neither_do_coroutines_nor_waits_once_the_pool_is_warm) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "frames are blocks of the heap there";
  long sum = 0;
  const auto heard = events().on<numbered>([&](const numbered& e) -> task<void> {
    co_await yield{*loop_};
    sum += e.number;
  });
  const auto tell = [&] {
    run([](event_bus& bus, event_loop& loop) -> task<void> {
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(co_await bus.publish_and_wait(numbered{1}), 1U);
        EXPECT_TRUE(bus.publish(numbered{1}, deadline::at(loop.now())));
        EXPECT_TRUE(co_await bus.publish_when_room(numbered{1}));
      }
    }(events(), *loop_));
    settle();
  };
  tell();
  const testing::allocation_counter since;
  tell();
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(sum, 600);
}

}  // namespace
}  // namespace weft
