#include <weft/service/event_lifetime.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include <weft/service/event_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class event_lifetime_test : public event_fixture {
 protected:
  static constexpr std::string_view name = "journal";
  std::optional<lifetime> own_{std::in_place, name};
};

TEST_F(event_lifetime_test, a_handler_hears_until_its_service_ends) {
  const auto shared = std::make_shared<int>(0);
  listen<numbered>(events(), *own_,
                   [this, shared](const numbered& e) { seen_.push_back(e.number); });
  events().publish(numbered{1});
  settle();
  events().publish(numbered{2});
  own_->request_end();
  EXPECT_EQ(shared.use_count(), 1) << "and what it captured has ended";
  settle();
  EXPECT_EQ(seen_, std::vector{1});
}

TEST_F(event_lifetime_test, a_service_does_not_end_before_its_coroutines) {
  listen<numbered>(events(), *own_, [this](const numbered& e) -> task<result<void>> {
    const auto slept = co_await sleep_for(*loop_, 1h);
    co_await yield{*loop_};
    seen_.push_back(e.number);
    co_return slept;
  });
  events().publish(numbered{1});
  settle();
  EXPECT_FALSE(own_->idle());
  run([](lifetime& own, std::vector<int>& seen) -> task<void> {
    own.request_end();
    co_await own.ended();
    EXPECT_EQ(seen, std::vector{1}) << "it was asked to stop, and has";
  }(*own_, seen_));
  own_.reset();
  EXPECT_EQ(events().statistics_of<numbered>().failures, 0U);
}

TEST_F(event_lifetime_test, the_bus_may_end_first) {
  listen<numbered>(events(), *own_, [this](const numbered& e) { seen_.push_back(e.number); });
  bus_.reset();
  own_.reset();
  settle();
}

TEST_F(event_lifetime_test, a_service_may_end_while_it_hears) {
  listen<numbered>(events(), *own_, [this](const numbered& e) {
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
