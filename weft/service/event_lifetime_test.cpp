// Whose a handler is, and when it ends.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/service/event_fixture_test.hpp>
#include <weft/service/lifetime.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class event_lifetime_test : public event_fixture {
 protected:
  void TearDown() override {
    own_.reset();  // before its loop
    event_fixture::TearDown();
  }
  /// Registers as a service does in its constructor.
  template <class F>
  void hear(F f) {
    const lifetime::making now{*own_};
    events().on<numbered>(std::move(f));
  }

  static constexpr std::string_view name = "journal";
  std::optional<lifetime> own_{std::in_place, name};
};

TEST_F(event_lifetime_test, a_handler_hears_until_its_service_ends) {
  const auto shared = std::make_shared<int>(0);
  hear([this, shared](const numbered& e) { seen_.push_back(e.number); });
  events().publish(numbered{1});
  settle();
  events().publish(numbered{2});
  own_->request_end();
  EXPECT_EQ(shared.use_count(), 1) << "and what it captured has ended";
  settle();
  EXPECT_EQ(seen_, std::vector{1});
}

TEST_F(event_lifetime_test, a_service_does_not_end_before_its_coroutines) {
  hear([this](const numbered& e) -> task<result<void>> {
    const auto slept = co_await sleep_for(*loop_, 1h);
    co_await yield{*loop_};
    seen_.push_back(e.number);
    co_return slept;
  });
  events().publish(numbered{1});
  settle();
  EXPECT_TRUE(own_->idle()) << "events keep no service from being asked to stop";
  run([](lifetime& own, std::vector<int>& seen) -> task<void> {
    own.request_end();
    EXPECT_FALSE(own.idle());
    co_await own.ended();
    EXPECT_EQ(seen, std::vector{1}) << "it was asked to stop, and has";
  }(*own_, seen_));
  own_.reset();
  EXPECT_EQ(events().statistics_of<numbered>().failures, 0U);
}

TEST_F(event_lifetime_test, whoever_registers_after_a_wait_says_whose_it_is) {
  events().on<numbered>([this](const numbered& e) { seen_.push_back(e.number); }, &*own_);
  events().publish(numbered{1});
  settle();
  own_->request_end();
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(seen_, std::vector{1});
}

TEST_F(event_lifetime_test, a_service_may_stop_listening_early) {
  event_registration heard =
      events().on<numbered>([this](const numbered& e) { seen_.push_back(e.number); }, &*own_);
  events().publish(numbered{1});
  settle();
  heard.remove();
  EXPECT_FALSE(heard);
  events().publish(numbered{2});
  settle();
  own_->request_end();
  EXPECT_EQ(seen_, std::vector{1});
}

TEST_F(event_lifetime_test, a_registration_may_outlive_the_service) {
  event_registration heard = events().on<numbered>([](const numbered&) {}, &*own_);
  own_.reset();
  EXPECT_FALSE(heard);
}

TEST_F(event_lifetime_test, of_no_service_it_listens_while_its_registration_lives) {
  const lifetime::making now{*own_};
  {
    const auto heard =
        events().on<numbered>([this](const numbered& e) { seen_.push_back(e.number); }, nullptr);
    events().publish(numbered{1});
    settle();
  }
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(seen_, std::vector{1});
}

TEST_F(event_lifetime_test, interceptors_end_with_it_too) {
  int told = 0;
  const auto heard = note_numbers();
  {
    const lifetime::making now{*own_};
    events().before<numbered>([](const numbered& e) { return e.number > 0; });
    events().after<numbered>([&](const numbered&, unsigned) { ++told; });
    events().before_each([](const event_view&) { return false; });
    events().after_each([&](const event_view&, unsigned) { ++told; });
  }
  events().publish(numbered{1});
  settle();
  own_->request_end();
  events().publish(numbered{0});
  settle();
  EXPECT_EQ(seen_, std::vector{0});
  EXPECT_EQ(told, 0);
}

TEST_F(event_lifetime_test, a_coroutine_works_for_its_service) {
  const lifetime* works_for = nullptr;
  hear([&](const numbered&) -> task<void> {
    works_for = (co_await this_task::environment()).owner;
  });
  events().publish(numbered{1});
  settle();
  EXPECT_EQ(works_for, &*own_);
}

TEST_F(event_lifetime_test, the_bus_may_end_first) {
  hear([this](const numbered& e) { seen_.push_back(e.number); });
  bus_.reset();
  own_.reset();
  settle();
}

TEST_F(event_lifetime_test, a_service_may_end_while_it_hears) {
  hear([this](const numbered& e) {
    seen_.push_back(e.number);
    own_->request_end();
  });
  events().publish(numbered{1});
  events().publish(numbered{2});
  settle();
  EXPECT_EQ(seen_, std::vector{1});
}

}  // namespace
}  // namespace weft
