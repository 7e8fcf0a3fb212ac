// Waiting: for room in the queue, for the handlers of an event, and for the end of the bus.
#include <weft/service/event_bus.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <weft/coro/with_deadline.hpp>
#include <weft/service/event_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

using event_wait_test = event_fixture;

// Room.

task<void> publish_all(event_bus& events, int from, int to) {
  for (int i = from; i < to; ++i) EXPECT_TRUE(co_await events.publish_when_room(numbered{i}));
}

TEST_F(event_wait_test, a_producer_waits_at_the_capacity_and_the_order_holds) {
  open_bus({.capacity = 4, .bound = 8});
  std::size_t deepest = 0;
  const auto heard = events().on<numbered>([&](const numbered& e) {
    deepest = std::max(deepest, events().queued());
    seen_.push_back(e.number);
  });
  run(publish_all(events(), 0, 100));
  EXPECT_EQ(seen_.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(seen_));
  EXPECT_LE(deepest, 4U);
}

TEST_F(event_wait_test, producers_that_wait_are_served_in_turn) {
  bus_.reset();
  loop_.reset();
  open({.backend = backend_kind::simulated, .shuffle_seed = 0});
  open_bus({.capacity = 1, .bound = 1});
  const auto heard = note_numbers();
  loop_->spawn(publish_all(events(), 0, 3));
  loop_->spawn(publish_all(events(), 10, 13));
  loop_->run();
  EXPECT_EQ(seen_, (std::vector{0, 1, 10, 2, 11, 12}));
}

TEST_F(event_wait_test, a_handler_does_not_go_before_who_waits_already) {
  open_bus({.capacity = 1, .bound = 1});
  const auto heard = note_numbers();
  const auto answers = events().on<ping>([this](const ping&) -> task<void> {
    EXPECT_TRUE(co_await events().publish_when_room(numbered{2}));
  });
  run([](event_bus& bus) -> task<void> {
    EXPECT_TRUE(bus.publish(ping{}));
    EXPECT_TRUE(co_await bus.publish_when_room(numbered{1}));
  }(events()));
  EXPECT_EQ(seen_, (std::vector{1, 2}));
}

TEST_F(event_wait_test, one_who_stops_waiting_has_published_nothing) {
  open_bus({.capacity = 1, .bound = 1});
  const auto heard = note_numbers();
  run([](event_fixture& test, event_bus& bus) -> task<void> {
    std::ignore = test;
    EXPECT_TRUE(bus.publish(numbered{1}));
    const auto late = co_await with_deadline(deadline::at(event_loop::current().now()),
                                             [](event_bus& b) -> task<result<void>> {
                                               co_return co_await b.publish_when_room(numbered{2});
                                             }(bus));
    EXPECT_EQ(late.error(), errc::timed_out);
    EXPECT_TRUE(co_await bus.publish_when_room(numbered{3}));
  }(*this, events()));
  EXPECT_EQ(seen_, (std::vector{1, 3}));
}

// The handlers.

TEST_F(event_wait_test, waits_for_all_handlers_and_says_how_many) {
  const auto function = note_numbers();
  const auto fails =
      events().on<numbered>([](const numbered&) -> result<void> { return fail(errc::refused); });
  const auto slow = events().on<numbered>([this](const numbered& e) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(*loop_, 10ms));
    seen_.push_back(e.number * 10);
  });
  const auto slower = events().on<numbered>([this](const numbered& e) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(*loop_, 20ms));
    seen_.push_back(e.number * 100);
  });
  run([](event_bus& bus, std::vector<int>& seen) -> task<void> {
    const auto handled = co_await bus.publish_and_wait(numbered{1});
    EXPECT_EQ(handled, 3U);
    EXPECT_EQ(seen, (std::vector{1, 10, 100}));
  }(events(), seen_));
}

TEST_F(event_wait_test, an_event_that_nobody_hears_is_waited_for_as_well) {
  const auto no = events().before<ping>([](const ping&) { return false; });
  run([](event_bus& bus) -> task<void> {
    EXPECT_EQ(co_await bus.publish_and_wait(numbered{1}), 0U);
    EXPECT_EQ(co_await bus.publish_and_wait(ping{}), 0U) << "vetoed";
  }(events()));
}

TEST_F(event_wait_test, a_deadline_ends_the_wait_and_not_the_handlers) {
  const auto slow = events().on<numbered>([this](const numbered& e) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(*loop_, 10ms));
    seen_.push_back(e.number);
  });
  run([](event_bus& bus, event_loop& loop) -> task<void> {
    const auto handled =
        co_await with_deadline(deadline::at(loop.now() + 5ms), bus.publish_and_wait(numbered{1}));
    EXPECT_EQ(handled.error(), errc::timed_out);
    EXPECT_TRUE(co_await sleep_for(loop, 1s));
  }(events(), *loop_));
  EXPECT_EQ(seen_, std::vector{1});
}

TEST_F(event_wait_test, a_coroutine_may_publish_and_wait_itself) {
  const auto outer = events().on<ping>([this](const ping&) -> task<result<void>> {
    const auto handled = co_await events().publish_and_wait(numbered{2});
    EXPECT_EQ(handled, 1U);
    seen_.push_back(1);
    co_return result<void>{};
  });
  const auto inner = note_numbers();
  run([](event_bus& bus) -> task<void> {
    EXPECT_EQ(co_await bus.publish_and_wait(ping{}), 1U);
  }(events()));
  EXPECT_EQ(seen_, (std::vector{2, 1}));
}

// The end.

TEST_F(event_wait_test, stop_tells_what_is_queued_and_refuses_the_rest) {
  open_bus({.capacity = 10, .bound = 20, .events_per_turn = 1});
  const auto heard = events().on<numbered>([&](const numbered& e) {
    seen_.push_back(e.number);
    if (seen_.size() == 1) return;  // told before the stop
    const auto refused = events().publish(numbered{100});
    EXPECT_FALSE(refused);
    if (!refused) EXPECT_EQ(refused.error(), errc::closed);
  });
  for (int i = 0; i < 20; ++i) events().publish(numbered{i});
  loop_->spawn([](event_bus& bus) -> task<void> {
    const auto waited = co_await bus.publish_when_room(numbered{20});
    EXPECT_EQ(waited.error(), errc::closed);
    EXPECT_EQ((co_await bus.publish_and_wait(numbered{21})).error(), errc::closed);
  }(events()));
  run([](event_bus& bus) -> task<void> { EXPECT_TRUE(co_await bus.stop()); }(events()));
  EXPECT_EQ(seen_.size(), 20U);
}

TEST_F(event_wait_test, stop_drops_what_it_has_no_time_for) {
  open_bus({.coroutines_max = 1});
  const auto slow = events().on<numbered>([this](const numbered& e) -> task<void> {
    std::ignore = co_await sleep_for(*loop_, 1h);
    seen_.push_back(e.number);
  });
  for (int i = 0; i < 3; ++i) events().publish(numbered{i});
  result<unsigned> waited;
  loop_->spawn([](event_bus& bus, result<unsigned>& outcome) -> task<void> {
    outcome = co_await bus.publish_and_wait(numbered{3});
  }(events(), waited));
  settle();
  run([](event_bus& bus, event_loop& loop) -> task<void> {
    const auto stopped = co_await with_deadline(deadline::at(loop.now() + 1s), bus.stop());
    EXPECT_EQ(stopped.error(), errc::timed_out);
  }(events(), *loop_));
  EXPECT_EQ(seen_, std::vector{0}) << "and it was asked to stop";
  EXPECT_EQ(waited.error(), errc::closed);
  EXPECT_EQ(events().statistics_of<numbered>().dropped, 3U);
}

TEST_F(event_wait_test, stop_waits_for_the_coroutines_of_handlers) {
  const auto slow = events().on<ping>([this](const ping&) -> task<void> {
    const auto slept = co_await sleep_for(*loop_, 1h);
    EXPECT_EQ(slept.error(), errc::cancelled);
    seen_.push_back(1);
  });
  events().publish(ping{});
  settle();
  run([](event_bus& bus) -> task<void> { EXPECT_TRUE(co_await bus.stop()); }(events()));
  EXPECT_EQ(seen_, std::vector{1});
}

}  // namespace
}  // namespace weft
