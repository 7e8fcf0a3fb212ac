// Who hears: coming and going while events are told, interceptors, and handlers that are
// coroutines.
#include <weft/service/event_listener.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <weft/base/log.hpp>
#include <weft/service/event_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class event_listener_test : public event_fixture {
 protected:
  void SetUp() override {
    log::set_sink(&note, this);
    event_fixture::SetUp();
  }
  void TearDown() override {
    event_fixture::TearDown();
    log::set_sink(nullptr, nullptr);
  }
  static void note(log::level, std::string_view message, void* self) {
    static_cast<event_listener_test*>(self)->log_ += message;
  }
  std::string log_;
};

// Registrations.

TEST_F(event_listener_test, listens_while_its_registration_lives) {
  {
    auto heard = note_numbers();
    auto moved = std::move(heard);
    EXPECT_FALSE(heard);
    EXPECT_TRUE(moved);
    events().publish(numbered{1});
    settle();
  }
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(seen_, std::vector{1});
}

TEST_F(event_listener_test, one_removed_between_publishing_and_telling_hears_nothing) {
  auto heard = note_numbers();
  events().publish(numbered{1});
  heard.remove();
  settle();
  EXPECT_TRUE(seen_.empty());
}

TEST_F(event_listener_test, one_added_while_an_event_is_told_hears_of_the_next) {
  event_registration later;
  const auto adds = events().on<numbered>([&](const numbered&) {
    if (!later) later = note_numbers();
  });
  events().publish(numbered{1});
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(seen_, std::vector{2});
}

TEST_F(event_listener_test, one_removed_while_an_event_is_told_does_not_hear_of_it) {
  event_registration second;
  const auto first = events().on<numbered>([&](const numbered&) { second.remove(); });
  second = note_numbers();
  events().publish(numbered{1});
  settle();
  EXPECT_TRUE(seen_.empty());
}

TEST_F(event_listener_test, one_may_remove_itself_and_what_it_captured_ends_after_it) {
  const auto shared = std::make_shared<int>(0);
  event_registration self;
  self = events().on<numbered>([&self, shared](const numbered& e) {
    self.remove();
    *shared += e.number;
  });
  events().publish(numbered{1});
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(*shared, 1);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(event_listener_test, one_may_end_others_by_its_own_end) {
  auto inner = std::make_shared<event_registration>(note_numbers());
  auto outer = events().on<numbered>([held = std::move(inner)](const numbered&) {});
  outer.remove();
  events().publish(numbered{1});
  settle();
  EXPECT_TRUE(seen_.empty());
}

TEST_F(event_listener_test, a_registration_may_outlive_the_bus) {
  const auto heard = note_numbers();
  bus_.reset();
  EXPECT_FALSE(heard);
}

TEST_F(event_listener_test, the_order_is_that_of_registration) {
  const auto one = events().on<ping>([&](const ping&) { seen_.push_back(1); });
  auto two = events().on<ping>([&](const ping&) { seen_.push_back(2); });
  const auto three = events().on<ping>([&](const ping&) { seen_.push_back(3); });
  two = events().on<ping>([&](const ping&) { seen_.push_back(4); });
  events().publish(ping{});
  settle();
  EXPECT_EQ(seen_, (std::vector{1, 3, 4}));
}

TEST_F(event_listener_test, a_handler_that_throws_or_fails_is_logged_and_the_others_are_told) {
  const auto throws =
      events().on<numbered>([](const numbered&) { throw std::runtime_error{"out of paper"}; });
  const auto fails =
      events().on<numbered>([](const numbered&) -> result<void> { return fail(errc::refused); });
  const auto heard = note_numbers();
  events().publish(numbered{1});
  settle();
  EXPECT_EQ(seen_, std::vector{1});
  EXPECT_EQ(events().statistics_of<numbered>().failures, 2U);
  EXPECT_NE(log_.find("out of paper"), log_.npos) << log_;
  EXPECT_NE(log_.find("numbered"), log_.npos) << log_;
}

// Interceptors.

TEST_F(event_listener_test, interceptors_see_an_event_before_and_after_and_may_veto) {
  std::vector<std::string> order;
  const auto before = events().before<numbered>([&](const numbered& e) {
    order.push_back("before " + std::to_string(e.number));
    return e.number != 2;
  });
  const auto after = events().after<numbered>([&](const numbered& e, unsigned handled) {
    order.push_back("after " + std::to_string(e.number) + " by " + std::to_string(handled));
  });
  const auto heard = note_numbers();
  const auto also = events().on<numbered>([](const numbered&) {});
  for (int i = 1; i <= 3; ++i) events().publish(numbered{i});
  settle();
  EXPECT_EQ(seen_, (std::vector{1, 3}));
  EXPECT_EQ(order, (std::vector<std::string>{"before 1", "after 1 by 2", "before 2", "before 3",
                                             "after 3 by 2"}));
  EXPECT_EQ(events().statistics_of<numbered>().vetoed, 1U);
}

TEST_F(event_listener_test, interceptors_of_all_types_see_which_it_is) {
  int pings = 0;
  auto all = events().before_each([&](const event_view& seen) {
    if (const auto* e = seen.as<numbered>()) seen_.push_back(e->number);
    if (seen.as<ping>() != nullptr) ++pings;
  });
  unsigned unheard = 0;
  auto ends = events().after_each(
      [&](const event_view&, unsigned handled) { unheard += handled == 0 ? 1 : 0; });
  events().publish(numbered{4});
  events().publish(ping{});
  settle();
  EXPECT_EQ(seen_, std::vector{4});
  EXPECT_EQ(pings, 1);
  EXPECT_EQ(unheard, 2U);
  all.remove();
  ends.remove();
  events().publish(ping{});
  settle();
  EXPECT_EQ(pings, 1);
}

// Coroutines.

TEST_F(event_listener_test, a_coroutine_keeps_its_event_while_it_runs) {
  struct owning {
    std::unique_ptr<int> value;
  };
  const auto slow = events().on<owning>([this](const owning& e) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(*loop_, 10ms));
    seen_.push_back(*e.value);
  });
  const auto quick = events().on<owning>([this](const owning& e) { seen_.push_back(-*e.value); });
  events().publish(owning{std::make_unique<int>(1)});
  events().publish(owning{std::make_unique<int>(2)});
  run([](event_loop& loop) -> task<void> { std::ignore = co_await sleep_for(loop, 1s); }(*loop_));
  ASSERT_EQ(seen_.size(), 4U);
  std::sort(seen_.begin() + 2, seen_.end());  // who sleeps as long wakes in any order
  EXPECT_EQ(seen_, (std::vector{-1, -2, 1, 2})) << "the next event does not wait for it";
}

TEST_F(event_listener_test, a_coroutine_begins_in_its_turn_among_the_handlers) {
  const auto first = events().on<numbered>([this](const numbered& e) -> task<void> {
    seen_.push_back(10 * e.number);
    co_await yield{*loop_};
    seen_.push_back(100 * e.number);
  });
  const auto second = note_numbers();
  events().publish(numbered{1});
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(seen_, (std::vector{10, 1, 20, 2, 100, 200}));
}

TEST_F(event_listener_test, a_coroutine_may_end_its_own_handler_before_its_first_wait) {
  const auto shared = std::make_shared<int>(0);
  event_registration self;
  self = events().on<numbered>([this, &self, shared](const numbered& e) -> task<void> {
    self.request_end();
    seen_.push_back(e.number);
    co_return;
  });
  events().publish(numbered{1});
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(seen_, std::vector{1});
  EXPECT_EQ(shared.use_count(), 1);
  EXPECT_EQ(events().running(), 0U);
}

TEST_F(event_listener_test, a_coroutine_that_fails_is_logged) {
  const auto fails = events().on<ping>([this](const ping&) -> task<result<void>> {
    co_await yield{*loop_};
    co_return fail(errc::refused);
  });
  const auto throws = events().on<ping>([this](const ping&) -> task<void> {
    co_await yield{*loop_};
    throw std::runtime_error{"no ink"};
  });
  events().publish(ping{});
  settle();
  EXPECT_EQ(events().running(), 0U);
  EXPECT_EQ(events().statistics_of<ping>().failures, 2U);
  EXPECT_NE(log_.find("no ink"), log_.npos) << log_;
}

TEST_F(event_listener_test, what_a_coroutine_captured_lives_as_long_as_it_runs) {
  const auto shared = std::make_shared<int>(5);
  auto slow = events().on<ping>([this, shared](const ping&) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(*loop_, 10ms));
    seen_.push_back(*shared);
  });
  events().publish(ping{});
  settle();
  slow.remove();
  EXPECT_EQ(shared.use_count(), 2);
  run([](event_loop& loop) -> task<void> { std::ignore = co_await sleep_for(loop, 1s); }(*loop_));
  EXPECT_EQ(seen_, std::vector{5});
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(event_listener_test, end_asks_the_coroutines_to_stop_and_waits_for_them) {
  bool asked = false;
  auto slow = events().on<ping>([&](const ping&) -> task<result<void>> {
    const auto slept = co_await sleep_for(*loop_, 1h);
    asked = !slept && slept.error() == errc::cancelled;
    co_await yield{*loop_};
    seen_.push_back(1);
    co_return slept;
  });
  events().publish(ping{});
  settle();
  run([](event_registration& ending, std::vector<int>& seen) -> task<void> {
    EXPECT_TRUE(co_await ending.end());
    EXPECT_EQ(seen, std::vector{1}) << "it has ended by then";
    EXPECT_TRUE(co_await ending.end()) << "there is nothing left to end";
  }(slow, seen_));
  EXPECT_TRUE(asked);
  EXPECT_EQ(events().statistics_of<ping>().failures, 0U) << "it did as it was asked";
}

TEST_F(event_listener_test, nothing_more_is_told_while_too_many_coroutines_run) {
  open_bus({.coroutines_max = 2});
  const auto slow = events().on<numbered>([this](const numbered& e) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(*loop_, 10ms));
    seen_.push_back(e.number);
  });
  for (int i = 0; i < 5; ++i) events().publish(numbered{i});
  settle();
  EXPECT_EQ(events().running(), 2U);
  EXPECT_EQ(events().queued(), 3U);
  run([](event_loop& loop) -> task<void> { std::ignore = co_await sleep_for(loop, 1s); }(*loop_));
  std::ranges::sort(seen_);  // those that slept as long wake in any order
  EXPECT_EQ(seen_, (std::vector{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace weft
