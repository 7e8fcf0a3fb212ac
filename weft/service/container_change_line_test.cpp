// Who waits for a change, and who may not: lines, deadlines, the end of all, refusals.
#include <weft/service/container_change_fixture_test.hpp>

#include <chrono>
#include <optional>
#include <string>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/service/event_bus.hpp>

using namespace std::chrono_literals;

namespace mill {

struct turn_off {};
// Asks for changes of itself from wherever a service can.
struct self_stopper {
  self_stopper(weft::container& in, weft::lifetime& mine, weft::event_bus& events, journal& into)
      : services{in}, own{mine}, log{into} {
    events.on<turn_off>([this](const turn_off&) { return stop_self("handler"); }, &own);
  }
  weft::task<weft::result<void>> start() {
    if (asks_in_start) co_await stop_self("start");
    co_return weft::result<void>{};
  }
  weft::task<weft::result<void>> stop() {
    co_await stop_self("stop");
    co_return weft::result<void>{};
  }
  weft::task<void> stop_self(const char* from) {
    const auto down = co_await services.stop(self);
    log.note(std::string{from} + ": " + (down ? "stopped" : weft::to_string(down.error().code())));
  }
  static inline weft::service_handle self;
  static inline bool asks_in_start = false;
  weft::container& services;
  weft::lifetime& own;
  journal& log;
};
// Asks for changes before anybody has started it.
struct early_bird {
  early_bird(weft::container& in, weft::lifetime& mine, journal& into) : services{in}, log{into} {
    mine.spawn(ask());
  }
  weft::task<void> ask() {
    const auto up = co_await services.start(self);
    log.note(std::string{"early: "} + (up ? "started" : weft::to_string(up.error().code())));
  }
  static inline weft::service_handle self;
  weft::container& services;
  journal& log;
};
// Is called by others, from tasks of their own, which end in their own time.
struct porter {
  porter(weft::container& in, weft::lifetime& mine, journal& into)
      : services{in}, own{mine}, log{into} {}
  weft::task<void> serve(weft::task<weft::result<void>> wish) {
    const weft::lifetime::use in_use{own};
    const weft::environment for_service{.runs_on = &weft::event_loop::current(), .owner = &own};
    const auto served = co_await std::move(wish).in(for_service);
    log.note(served ? "served" : weft::to_string(served.error().code()));
  }
  weft::task<weft::result<void>> see_wheel() {
    const auto seen = co_await services.wait_for<wheel>();
    if (!seen) co_return weft::fail(seen.error());
    co_return weft::result<void>{};
  }
  weft::container& services;
  weft::lifetime& own;
  journal& log;
};
// Takes its time to start, until it is asked to hurry.
struct sleeper {
  explicit sleeper(weft::event_loop& on) : loop{on} {}
  weft::task<weft::result<void>> start() {
    co_return co_await weft::sleep_for(loop, std::chrono::hours{1});
  }
  weft::event_loop& loop;
};
struct needs_self_stopper {
  explicit needs_self_stopper(self_stopper&, weft::lifetime& mine) : own{mine} {}
  weft::lifetime& own;
};

}  // namespace mill

namespace {

using mill::lines;
using weft::both;
using weft::captured_log;
using weft::container_change;
using weft::result;
using weft::said;
using weft::task;

TEST_F(container_change, lets_others_wait_in_line_until_they_are_asked_to_stop) {
  const auto slow = services.add<mill::slow>().handle();
  const auto wheel = services.add<mill::wheel>().handle();
  run([&]() -> task<void> {
    std::optional<result<void>> first;
    std::optional<result<void>> stopped;
    std::optional<result<void>> late;
    std::optional<result<void>> patient;
    loop->spawn(keep(services.stop(slow), first));
    co_await weft::yield{*loop};
    weft::scope others{co_await weft::this_task::environment()};
    others.spawn(keep(services.stop(wheel), stopped));
    loop->spawn(keep(weft::with_timeout(1min, services.stop(wheel)), late));
    loop->spawn(keep(services.restart(wheel), patient));
    co_await pause(1s);
    for (const auto* each : {&first, &stopped, &late, &patient})
      EXPECT_EQ(said(*each), "nothing yet");
    others.request_stop();
    co_await others.join();
    EXPECT_EQ(said(stopped), "cancelled");
    co_await pause(2min);
    EXPECT_EQ(said(late), "timed_out");
    EXPECT_FALSE(first || patient);
    co_await pause(1h);
    EXPECT_EQ(said(first), "well");
    EXPECT_EQ(said(patient), "well");
  });
}

TEST_F(container_change, does_for_two_what_both_ask_one_after_the_other) {
  const auto wheel = services.add<mill::wheel>().handle();
  run([&]() -> task<void> {
    log.notes.clear();
    std::optional<result<void>> first;
    loop->spawn(keep(services.restart(wheel), first));
    co_await expect("well", services.restart(wheel));
    co_await weft::yield{*loop};
    EXPECT_EQ(said(first), "well");
    const lines once{"wheel stopped", "wheel gone", "wheel made", "wheel started"};
    EXPECT_EQ(log.take(), both(once, once));
  });
}

TEST_F(container_change, ends_a_start_and_no_stop_for_who_asked_and_is_to_stop) {
  captured_log messages;
  const auto slow = services.add<mill::slow>().handle();
  run([&]() -> task<void> {
    const auto sleeper = services.add<mill::sleeper>().handle();
    std::optional<result<void>> up;
    std::optional<result<void>> down;
    {
      weft::scope asking{co_await weft::this_task::environment()};
      asking.spawn(keep(services.start(sleeper), up));
      co_await pause(1s);
      EXPECT_EQ(said(up), "nothing yet");
      asking.request_stop();
      co_await asking.join();
    }
    EXPECT_EQ(said(up), "cancelled");
    EXPECT_EQ(services.find<mill::sleeper>(), nullptr);
    weft::scope asking{co_await weft::this_task::environment()};
    asking.spawn(keep(services.stop(slow), down));
    co_await pause(1s);
    asking.request_stop();
    co_await asking.join();
    EXPECT_EQ(said(down), "well");
    EXPECT_EQ(log.take(), (lines{"slow stops", "slow stopped"}));
  });
}

TEST_F(container_change, heeds_the_deadline_in_the_stops_it_calls) {
  const auto slow = services.add<mill::slow>().handle();
  run([&]() -> task<void> {
    co_await expect("well", weft::with_timeout(1s, services.stop(slow)));
    EXPECT_EQ(log.take(), (lines{"slow stops", "slow hastened"}));
    EXPECT_EQ(services.find<mill::slow>(), nullptr);
  });
}

TEST_F(container_change, ends_the_change_that_is_under_way_when_all_are_to_stop) {
  const auto slow = services.add<mill::slow>().handle();
  services.add<mill::wheel>();
  std::optional<result<void>> changed;
  std::optional<result<void>> behind;
  run([&]() -> task<void> {
    loop->spawn(keep(services.restart(slow), changed));
    loop->spawn(keep(services.restart(slow), behind));
    co_await weft::yield{*loop};
    co_await expect("well", weft::with_timeout(1min, services.stop()));
  });
  EXPECT_EQ(log.notes,
            (lines{"wheel made", "wheel started", "slow stops", "slow hastened", "wheel stopped"}));
  EXPECT_EQ(said(changed), "closed");
  EXPECT_EQ(said(behind), "closed");
}

TEST_F(container_change, lets_nobody_wait_who_is_waited_for) {
  const auto slow = services.add<mill::slow>().handle();
  const auto porter = services.add<mill::porter>().handle();
  run([&]() -> task<void> {
    auto& called = services.get<mill::porter>();
    std::optional<result<void>> first;
    std::optional<result<void>> down;
    loop->spawn(called.serve(called.see_wheel()));
    co_await weft::yield{*loop};
    loop->spawn(keep(services.restart(slow), first));
    co_await weft::yield{*loop};
    loop->spawn(keep(services.stop(porter), down));
    co_await weft::yield{*loop};
    loop->spawn(called.serve(services.restart(slow)));  // behind the one that ends it
    co_await pause(2h);
    EXPECT_EQ(said(first), "well");
    EXPECT_EQ(said(down), "well");
    EXPECT_EQ(log.take(), (lines{"slow stops", "slow stopped", "cancelled", "cancelled"}));
  });
}

TEST_F(container_change, begins_nothing_while_all_stop) {
  const auto slow = services.add<mill::slow>().handle();
  const auto wheel = services.add<mill::wheel>().handle();
  run([&]() -> task<void> {
    std::optional<result<void>> down;
    loop->spawn(keep(services.stop(), down));
    co_await pause(1s);
    co_await expect("closed", services.start());
    co_await expect("closed", services.start(wheel));
    co_await expect("closed", services.stop(slow));
    co_await expect("closed", services.restart(wheel));
    co_await expect("closed", services.remove(slow));
    co_await expect("closed", services.wait_for<mill::stone>());
    EXPECT_EQ(said(down), "nothing yet");
    co_await expect("well", services.stop());
    EXPECT_EQ(said(down), "well");
  });
}

class container_change_refused : public container_change {
 protected:
  container_change_refused() {
    mill::self_stopper::self = services.add<mill::self_stopper>().handle();
    services.add<mill::needs_self_stopper>();
  }
};

TEST_F(container_change_refused, when_a_service_would_wait_for_its_own_end) {
  captured_log messages;
  run([this]() -> task<void> {
    auto& one = services.get<mill::self_stopper>();
    one.own.spawn(one.stop_self("task"));
    co_await pause(1ms);
    EXPECT_EQ(log.take(), lines{"task: invalid_argument"});
    EXPECT_TRUE(events.publish(mill::turn_off{}));
    co_await pause(1ms);
    EXPECT_EQ(log.take(), lines{"handler: invalid_argument"});
    services.get<mill::needs_self_stopper>().own.spawn(one.stop_self("dependant"));
    co_await pause(1ms);
    EXPECT_EQ(log.take(), lines{"dependant: invalid_argument"});
    co_await expect("well", services.stop(mill::self_stopper::self));
    EXPECT_EQ(log.take(), lines{"stop: invalid_argument"});
  });
  ASSERT_EQ(messages.messages.size(), 4U);
  EXPECT_EQ(messages.messages[0],
            "mill::self_stopper waits for mill::self_stopper to stop, which waits for "
            "mill::self_stopper to end");
  EXPECT_EQ(messages.messages[2],
            "mill::needs_self_stopper waits for mill::self_stopper to stop, which waits for "
            "mill::needs_self_stopper to end");
}

TEST_F(container_change_refused, in_the_start_that_a_change_waits_for) {
  captured_log messages;
  mill::self_stopper::asks_in_start = true;
  run([this]() -> task<void> {
    EXPECT_EQ(log.take(), lines{"start: invalid_argument"});
    co_return;
  });
  mill::self_stopper::asks_in_start = false;
}

TEST_F(container_change_refused, whatever_the_change_that_would_end_who_asks) {
  captured_log messages;
  run([this]() -> task<void> {
    auto& one = services.get<mill::self_stopper>();
    const auto self = mill::self_stopper::self;
    std::optional<result<void>> removed;
    std::optional<result<void>> restarted;
    std::optional<result<void>> all_down;
    one.own.spawn(keep(services.remove(self), removed));
    one.own.spawn(keep(services.restart(self), restarted));
    one.own.spawn(keep(services.stop(), all_down));
    co_await pause(1ms);
    for (const auto* each : {&removed, &restarted, &all_down})
      EXPECT_EQ(said(*each), "invalid_argument");
    EXPECT_EQ(services.find<mill::self_stopper>(), &one);
  });
}

TEST_F(container_change_refused, before_who_asks_has_started) {
  captured_log messages;
  services.add<mill::wheel>();
  mill::early_bird::self = services.add<mill::early_bird>().handle();
  log.wheel_fails = true;
  weft::life life = [this]() -> task<void> {
    co_await expect("exhausted", services.start());
    co_await pause(1ms);
    EXPECT_EQ(log.take(), (lines{"wheel made", "early: invalid_argument"}));
    co_await expect("well", services.stop());
  };
  loop->spawn(life());
  loop->run();
  EXPECT_EQ(messages.messages.at(1),
            "mill::early_bird asks for a change, which may have to end it, before it has started: "
            "co_await wait_for<mill::early_bird>() first");
}

// Each waits for the other's end: who is first has its way, and so ends the other's wait.
TEST_F(container_change_refused, is_neither_of_two_that_would_end_each_other) {
  captured_log messages;
  services.add<mill::wheel>();
  const auto stone = services.add<mill::stone>().handle();
  const auto slow = services.add<mill::slow>().handle();
  run([&]() -> task<void> {
    std::optional<result<void>> before_them;
    std::optional<result<void>> by_slow;
    std::optional<result<void>> by_stopper;
    auto& stopper = services.get<mill::self_stopper>();
    auto& slow_one = services.get<mill::slow>();
    loop->spawn(keep(services.restart(stone), before_them));
    co_await weft::yield{*loop};
    stopper.own.spawn(keep(services.stop(slow), by_stopper));
    co_await weft::yield{*loop};
    slow_one.own.spawn(keep(services.restart(mill::self_stopper::self), by_slow));
    co_await pause(2h);
    EXPECT_EQ(said(before_them), "well");
    EXPECT_EQ(said(by_stopper), "well");
    EXPECT_EQ(said(by_slow), "cancelled");
    EXPECT_EQ(services.find<mill::slow>(), nullptr);
    EXPECT_EQ(services.find<mill::self_stopper>(), &stopper);
  });
}

}  // namespace
