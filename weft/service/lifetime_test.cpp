#include <weft/service/lifetime.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>

using namespace std::chrono_literals;

namespace {

using weft::lifetime;
using weft::task;

constexpr std::string_view service_name = "shop::api";

// What somebody else keeps for a service.
struct route : weft::registration {
  route(std::vector<int>& order, int number)
      : registration{&on_end}, ended{&order}, is_number{number} {}
  static void on_end(registration& self) noexcept {
    auto& me = static_cast<route&>(self);
    me.ended->push_back(me.is_number);
  }
  std::vector<int>* ended;
  int is_number;
};

class lifetime_test : public ::testing::Test {
 protected:
  void run(task<void> work) {
    loop->spawn(std::move(work));
    loop->run();
  }
  /// Ends `own`, and notes when.
  task<void> end(lifetime& own) {
    own.request_end();
    co_await own.ended();
    ended_at = loop->now();
  }

  std::unique_ptr<weft::event_loop> loop =
      *weft::event_loop::create({.backend = weft::backend_kind::simulated});
  weft::time_point begun = loop->now();
  weft::time_point ended_at{};
  std::vector<int> order;
};

TEST_F(lifetime_test, ends_what_is_registered_newest_first) {
  route first{order, 1};
  route taken_back{order, 2};
  route last{order, 3};
  {
    lifetime own{service_name};
    own.attach(first);
    own.attach(taken_back);
    own.attach(last);
    EXPECT_EQ(first.owner(), &own);
    taken_back.detach();
    EXPECT_EQ(taken_back.owner(), nullptr);
    own.request_end();
    EXPECT_EQ(order, (std::vector{3, 1}));
    EXPECT_EQ(first.owner(), nullptr);
    own.attach(taken_back);
  }
  EXPECT_EQ(order, (std::vector{3, 1, 2})) << "what came after the request ends with the lifetime";
}

TEST_F(lifetime_test, forgets_a_registration_that_is_destroyed) {
  lifetime own{service_name};
  {
    route gone{order, 1};
    own.attach(gone);
  }
  own.request_end();
  EXPECT_TRUE(order.empty());
}

TEST_F(lifetime_test, lets_a_registration_destroy_itself_and_others) {
  struct pair_of_routes : weft::registration {
    explicit pair_of_routes(std::unique_ptr<route> companion)
        : registration{[](registration& self) noexcept {
            delete static_cast<pair_of_routes*>(&self);  // and with it the older one
          }},
          other{std::move(companion)} {}
    std::unique_ptr<route> other;
  };
  lifetime own{service_name};
  auto older = std::make_unique<route>(order, 1);
  own.attach(*older);
  auto newer = std::make_unique<pair_of_routes>(std::move(older));
  own.attach(*newer.release());
  own.request_end();
  EXPECT_TRUE(order.empty());
}

TEST_F(lifetime_test, is_the_current_one_while_its_service_is_made) {
  lifetime outer{service_name};
  lifetime inner{service_name};
  EXPECT_EQ(lifetime::current(), nullptr);
  {
    const lifetime::making outside{outer};
    {
      const lifetime::making inside{inner};
      EXPECT_EQ(lifetime::current(), &inner);
    }
    EXPECT_EQ(lifetime::current(), &outer);
  }
  EXPECT_EQ(lifetime::current(), nullptr);
}

TEST_F(lifetime_test, stops_its_tasks_and_waits_for_them) {
  struct last_words {
    static task<void> run(weft::event_loop& on, lifetime*& works_for) {
      works_for = (co_await weft::this_task::environment()).owner;
      EXPECT_FALSE(co_await weft::sleep_for(on, 1h)) << "asked to stop";
      const weft::environment deaf{.runs_on = &on};
      co_await finish(on).in(deaf);
    }
    static task<void> finish(weft::event_loop& on) {
      EXPECT_TRUE(co_await weft::sleep_for(on, 5ms));
    }
  };
  lifetime own{service_name};
  lifetime* works_for = nullptr;
  const auto live = [](weft::event_loop& on, lifetime& owner, lifetime*& seen) -> task<void> {
    owner.spawn(last_words::run(on, seen));
    EXPECT_TRUE(co_await weft::sleep_for(on, 1ms));
    EXPECT_FALSE(owner.idle());
    EXPECT_EQ(seen, &owner);
  };
  const auto both = [](task<void> one, task<void> two) -> task<void> {
    co_await std::move(one);
    co_await std::move(two);
  };
  run(both(live(*loop, own, works_for), end(own)));
  EXPECT_TRUE(own.idle());
  EXPECT_EQ(ended_at - begun, 6ms);
}

TEST_F(lifetime_test, goes_on_though_the_loop_is_asked_to_stop) {
  lifetime own{service_name};
  const auto live = [](weft::event_loop& on, lifetime& owner) -> task<void> {
    owner.spawn([](weft::event_loop& loop) -> task<void> {
      EXPECT_TRUE(co_await weft::sleep_for(loop, 3ms)) << "services stop in their own order";
    }(on));
    on.request_stop();
    co_await owner.ended();
  };
  run(live(*loop, own));
  EXPECT_EQ(loop->now() - begun, 3ms);
}

TEST_F(lifetime_test, waits_for_calls_that_are_under_way) {
  lifetime own{service_name};
  const auto call = [](weft::event_loop& on, weft::duration takes, lifetime::use) -> task<void> {
    EXPECT_TRUE(co_await weft::sleep_for(on, takes));
  };
  loop->spawn(call(*loop, 2ms, lifetime::use{own}));
  loop->spawn(call(*loop, 3ms, lifetime::use{own}));
  run(end(own));
  EXPECT_EQ(ended_at - begun, 3ms);
}

TEST_F(lifetime_test, logs_an_exception_that_leaves_a_task_and_goes_on) {
  static std::vector<std::string> messages;
  messages.clear();
  weft::log::set_sink(
      [](weft::log::level, std::string_view text, void*) { messages.emplace_back(text); }, nullptr);
  lifetime own{service_name};
  const auto live = [](weft::event_loop& on, lifetime& owner) -> task<void> {
    owner.spawn([](weft::event_loop& loop) -> task<void> {
      EXPECT_TRUE(co_await weft::sleep_for(loop, 2ms)) << "its sibling's failure is not its own";
    }(on));
    owner.spawn([](weft::event_loop&) -> task<void> {
      throw std::runtime_error{"no luck"};
      co_return;
    }(on));
    co_await owner.ended();
  };
  run(live(*loop, own));
  weft::log::set_sink(nullptr, nullptr);
  EXPECT_EQ(messages, std::vector<std::string>{"a task of shop::api threw: no luck"});
  EXPECT_EQ(loop->now() - begun, 2ms);
}

TEST_F(lifetime_test, refuses_to_end_before_its_tasks) {
  const auto end_too_early = [this] {
    lifetime own{service_name};
    own.spawn([](weft::event_loop& on) -> task<void> {
      static_cast<void>(co_await weft::sleep_for(on, 1h));
    }(*loop));
  };
  EXPECT_DEATH(end_too_early(), "a service ends after its tasks");
}

}  // namespace
