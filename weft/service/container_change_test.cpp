// Services that are started, stopped, restarted and removed while the others run.
#include <weft/service/container_change_fixture_test.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <weft/coro/with_deadline.hpp>

using namespace std::chrono_literals;

namespace mill {

// One for each who asks.
struct ledger {
  ledger(weft::consumer asking, wheel&, journal& into) : of{asking.type}, log{into} {
    log.note("ledger made for " + of);
  }
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;
  ~ledger() { log.note("ledger gone of " + of); }
  std::string of;
  journal& log;
};
struct baker {
  baker(ledger& mine, journal& into) : book{mine}, log{into} {}
  void stop() { log.note("baker stopped"); }
  ledger& book;
  journal& log;
};

struct once_options {
  std::unique_ptr<int> only = std::make_unique<int>(7);
};
struct once {
  using options = once_options;
  explicit once(once_options given) : value{*given.only} {}
  int value;
};

}  // namespace mill

namespace {

using mill::lines;
using weft::both;
using weft::captured_log;
using weft::container;
using weft::container_change;
using weft::result;
using weft::said;
using weft::service_handle;
using weft::task;

class container_change_in_a_mill : public container_change {
 protected:
  service_handle visitor = services.add<mill::visitor>().handle();
  service_handle wheel = services.add<mill::wheel>().handle();
  service_handle stone = services.add<mill::stone>().handle();
  service_handle miller = services.add<mill::miller>().handle();
};

const lines all_down{"miller stopped", "stone stopped", "stone gone", "wheel stopped",
                     "wheel gone"};
const lines all_up{"wheel made", "wheel started", "stone started", "miller started"};

TEST_F(container_change, who_has_the_name_of_another_is_refused_and_not_started) {
  const service_handle first = services.add<mill::wheel>().named("keep").handle();
  run([this, first]() -> task<void> {
    const service_handle second = services.add<mill::wheel>().named("keep").handle();
    log.notes.clear();
    captured_log written;
    co_await expect("invalid_argument", services.start(second));
    co_await expect("invalid_argument", services.start(second));
    EXPECT_EQ(log.take(), lines{});
    EXPECT_TRUE(std::ranges::any_of(written.messages, [](const std::string& each) {
      return each.contains("two services are mill::wheel \"keep\"");
    }));
    co_await expect("well", services.restart(first));
    const service_handle other = services.add<mill::wheel>().named("other").handle();
    co_await expect("well", services.start(other));
    co_await expect("well", services.remove(first));
    log.notes.clear();
    co_await expect("well", services.start(second));
    EXPECT_EQ(log.take(), (lines{"wheel made", "wheel started"}));
  });
}

TEST_F(container_change, who_is_bound_to_what_is_no_such_service_is_refused_and_not_started) {
  const service_handle visitor = services.add<mill::visitor>().handle();
  services.add<mill::wheel>();
  run([this, visitor]() -> task<void> {
    const service_handle stone = services.add<mill::stone>().bind<mill::wheel>(visitor).handle();
    log.notes.clear();
    co_await expect("invalid_argument", services.start(stone));
    co_await expect("invalid_argument", services.start(stone));
    EXPECT_EQ(log.take(), lines{});
    EXPECT_EQ(services.find<mill::stone>(), nullptr);
    co_await expect("well", services.remove(stone));
    co_await expect("well", services.start(services.add<mill::stone>().handle()));
  });
}

TEST_F(container_change_in_a_mill, stops_dependants_first_and_starts_them_again) {
  run([this]() -> task<void> {
    log.notes.clear();
    co_await expect("well", services.stop(wheel));
    EXPECT_EQ(log.take(), all_down);
    EXPECT_EQ(services.find<mill::miller>(), nullptr);
    co_await expect("well", services.stop(wheel));  // is down already
    co_await expect("well", services.start(wheel));
    EXPECT_EQ(log.take(), all_up);
    EXPECT_EQ(&services.get<mill::stone>().drive, services.find<mill::wheel>());
    co_await expect("well", services.start(wheel));  // is up already
    EXPECT_EQ(log.take(), lines{});
  });
  EXPECT_EQ(log.notes,
            (lines{"miller stopped", "stone stopped", "wheel stopped", "visitor stopped"}))
      << "in the reverse of the order in which they started, the restarted ones too";
}

TEST_F(container_change_in_a_mill, restarts_with_all_who_need_it) {
  run([this]() -> task<void> {
    log.notes.clear();
    co_await expect("well", services.restart(wheel));
    EXPECT_EQ(log.take(), both(all_down, all_up));
    co_await expect("well", services.restart(miller));
    EXPECT_EQ(log.take(), (lines{"miller stopped", "miller started"}));
  });
}

TEST_F(container_change_in_a_mill, shows_what_is_optional_as_gone_at_once) {
  run([this]() -> task<void> {
    const mill::visitor& sees = services.get<mill::visitor>();
    EXPECT_NE(sees.sees.get(), nullptr);
    std::optional<result<void>> down;
    loop->spawn(keep(services.stop(wheel), down));
    co_await weft::yield{*loop};
    EXPECT_FALSE(down) << "the stone takes its time to stop";
    EXPECT_EQ(sees.sees.get(), nullptr);
    EXPECT_TRUE(sees.sees_all.empty());
    co_await pause(10ms);
    EXPECT_TRUE(down.has_value() && *down);
    co_await expect("well", services.start(wheel));
    EXPECT_EQ(sees.sees.get(), services.find<mill::wheel>());
    EXPECT_FALSE(sees.sees_all.empty());
  });
}

TEST_F(container_change_in_a_mill, keeps_down_who_was_stopped_when_others_return) {
  captured_log messages;
  run([this]() -> task<void> {
    co_await expect("well", services.stop(stone));
    log.notes.clear();
    co_await expect("well", services.restart(wheel));
    EXPECT_EQ(log.take(), (lines{"wheel stopped", "wheel gone", "wheel made", "wheel started"}));
    co_await expect("unavailable", services.start(miller));
    co_await expect("well", services.start(stone));
    EXPECT_EQ(log.take(), (lines{"stone started", "miller started"}));
  });
  EXPECT_EQ(messages.messages, lines{"mill::miller needs mill::stone, which is stopped"});
}

TEST_F(container_change_in_a_mill, forgets_what_is_removed) {
  captured_log messages;
  run([this]() -> task<void> {
    log.notes.clear();
    co_await expect("well", services.remove(wheel));
    EXPECT_EQ(log.take(), all_down);
    co_await expect("not_found", services.start(stone));
    co_await expect("unavailable", services.start(miller));
    EXPECT_EQ(services.get<mill::visitor>().sees.get(), nullptr);
  });
  EXPECT_EQ(messages.messages,
            (lines{"mill::stone needs mill::wheel, which nobody provides: add<mill::wheel>() is "
                   "missing (mill::miller -> mill::stone -> mill::wheel)",
                   "mill::miller needs mill::stone, which is not there"}));
}

TEST_F(container_change_in_a_mill, knows_no_stale_handle) {
  run([this]() -> task<void> {
    co_await expect("well", services.remove(wheel));
    const auto again = services.add<mill::wheel>().handle();
    EXPECT_EQ(again.index, wheel.index);
    EXPECT_NE(again.generation, wheel.generation);
    co_await expect("not_found", services.start(wheel));
    co_await expect("not_found", services.stop(wheel));
    co_await expect("not_found", services.restart(wheel));
    co_await expect("not_found", services.remove(wheel));
    co_await expect("not_found", services.start(service_handle{}));
    log.notes.clear();
    co_await expect("well", services.start(again));
    EXPECT_EQ(log.take(), all_up) << "who needed the old one gets the new one";
  });
}

TEST_F(container_change_in_a_mill, looks_for_another_when_one_is_removed) {
  captured_log messages;
  run([this]() -> task<void> {
    const auto second = services.add<mill::wheel>().named("second").handle();
    co_await expect("well", services.start(second));
    log.notes.clear();
    co_await expect("well", services.remove(wheel));
    EXPECT_EQ(log.take(), both(all_down, {"stone started", "miller started"}));
    co_await expect("well", services.stop(second));
    EXPECT_EQ(log.take(), all_down);
  });
  EXPECT_EQ(messages.messages, lines{});
}

TEST_F(container_change_in_a_mill, leaves_down_who_fails_with_those_who_need_it) {
  captured_log messages;
  run([this]() -> task<void> {
    log.stone_fails = true;
    log.notes.clear();
    co_await expect("refused", services.restart(wheel));
    EXPECT_EQ(log.take(), both(all_down, {"wheel made", "wheel started", "stone gone"}));
    EXPECT_NE(services.find<mill::wheel>(), nullptr);
    EXPECT_EQ(services.find<mill::stone>(), nullptr);
    EXPECT_EQ(services.find<mill::miller>(), nullptr);
    log.stone_fails = false;
    co_await expect("well", services.start(stone));
    EXPECT_EQ(log.take(), (lines{"stone started", "miller started"}));
  });
  ASSERT_EQ(messages.messages.size(), 1U);
  EXPECT_TRUE(messages.messages[0].starts_with("mill::miller -> mill::stone did not start: "))
      << messages.messages[0];
}

TEST_F(container_change_in_a_mill, tries_again_who_failed_when_what_it_needs_comes_anew) {
  captured_log messages;
  run([this]() -> task<void> {
    log.stone_fails = true;
    co_await expect("refused", services.restart(wheel));
    log.stone_fails = false;
    log.notes.clear();
    co_await expect("well", services.restart(wheel));
    EXPECT_EQ(log.take(), (lines{"wheel stopped", "wheel gone", "wheel made", "wheel started",
                                 "stone started", "miller started"}));
  });
}

TEST_F(container_change_in_a_mill, fails_a_restart_after_which_it_does_not_run) {
  captured_log messages;
  run([this]() -> task<void> {
    log.wheel_fails = true;
    co_await expect("exhausted", services.restart(wheel));
    log.wheel_fails = false;
    log.wheel_throws = true;
    co_await expect("invalid_argument", services.start(wheel));
    log.wheel_throws = false;
    log.notes.clear();
    co_await expect("well", services.restart(wheel));
    EXPECT_EQ(log.take(), all_up);
  });
}

TEST_F(container_change_in_a_mill, waits_until_one_has_started) {
  run([this]() -> task<void> {
    const auto now = co_await services.wait_for<mill::wheel>();
    EXPECT_TRUE(now && *now == services.find<mill::wheel>());
    co_await expect("well", services.stop(wheel));
    co_await expect("timed_out", weft::with_timeout(1s, services.wait_for<mill::wheel>()));
    std::optional<result<void>> up;
    loop->spawn(keep(services.start(wheel), up));
    const auto miller_up = co_await services.wait_for<mill::miller>();
    EXPECT_TRUE(miller_up && *miller_up == services.find<mill::miller>());
    co_await pause(1ms);
    EXPECT_TRUE(up.has_value() && *up);
  });
}

TEST_F(container_change, tells_who_waits_that_all_are_stopped) {
  std::optional<result<void>> waited;
  run([&]() -> task<void> {
    loop->spawn(keep(
        [](container& of) -> task<result<void>> {
          const auto up = co_await of.wait_for<mill::once>();
          if (!up) co_return weft::fail(up.error());
          co_return result<void>{};
        }(services),
        waited));
    co_await weft::yield{*loop};
    EXPECT_FALSE(waited);
  });
  EXPECT_EQ(said(waited), "closed");
}

TEST_F(container_change_in_a_mill, makes_all_anew_when_started_after_a_whole_stop) {
  run([this]() -> task<void> {
    log.notes.clear();
    co_await expect("well", services.stop());
    co_await expect("closed", services.restart(wheel));
    co_await expect("closed", services.wait_for<mill::wheel>());
    EXPECT_EQ(log.take(),
              (lines{"miller stopped", "stone stopped", "visitor stopped", "wheel stopped"}));
    co_await expect("well", services.start());
    EXPECT_EQ(log.take(), both({"stone gone", "wheel gone"}, all_up));
    co_await expect("well", services.restart(wheel));
    EXPECT_EQ(log.take(), both(all_down, all_up));
  });
}

TEST_F(container_change, makes_anew_who_has_failed_before_it_starts_again) {
  captured_log messages;
  const auto wheel = services.add<mill::wheel>().handle();
  const auto visitor = services.add<mill::visitor>().handle();
  weft::life in_steps = [&]() -> task<void> {
    log.wheel_fails = true;
    co_await expect("exhausted", services.start());
    co_await expect("exhausted", services.start());
    EXPECT_EQ(log.take(), (lines{"wheel made", "wheel gone", "wheel made"}));
    log.wheel_fails = false;
    co_await expect("well", services.restart(visitor));
    EXPECT_EQ(log.take(), (lines{"wheel gone", "visitor stopped"})) << "nobody has asked for it";
    co_await expect("well", services.start(wheel));
    EXPECT_EQ(log.take(), (lines{"wheel made", "wheel started"}));
    co_await expect("well", services.stop());
  };
  loop->spawn(in_steps());
  loop->run();
}

TEST_F(container_change, ends_instances_with_whom_they_were_made_for) {
  captured_log messages;
  const auto wheel = services.add<mill::wheel>().handle();
  const auto pattern = services.add<mill::ledger>().per_consumer().handle();
  const auto baker = services.add<mill::baker>().handle();
  const lines down{"baker stopped", "ledger gone of mill::baker", "wheel stopped", "wheel gone"};
  const lines up{"wheel made", "ledger made for mill::baker", "wheel started"};
  run([&]() -> task<void> {
    EXPECT_EQ(log.take(), up);
    co_await expect("well", services.restart(baker));
    EXPECT_EQ(log.take(), lines{"baker stopped"}) << "its ledger stays";
    co_await expect("well", services.restart(wheel));
    EXPECT_EQ(log.take(), both(down, up));
    co_await expect("invalid_argument", services.restart(pattern));
    co_await expect("well", services.remove(baker));
    EXPECT_EQ(log.take(), (lines{"baker stopped", "ledger gone of mill::baker"}));
    co_await expect("well", services.restart(wheel));
    EXPECT_EQ(log.take(), (lines{"wheel stopped", "wheel gone", "wheel made", "wheel started"}));
  });
}

TEST_F(container_change, starts_what_has_been_added_with_what_it_needs) {
  captured_log messages;
  run([this]() -> task<void> {
    const auto stone = services.add<mill::stone>().handle();
    co_await expect("not_found", services.start(stone));
    services.add<mill::wheel>();
    co_await expect("well", services.start(stone));
    EXPECT_EQ(log.take(), (lines{"wheel made", "wheel started", "stone started"}));
  });
  EXPECT_EQ(messages.messages, lines{"mill::stone needs mill::wheel, which nobody provides: "
                                     "add<mill::wheel>() is missing"});
}

TEST_F(container_change, does_not_make_anew_what_has_given_its_options_away) {
  captured_log messages;
  run([this]() -> task<void> {
    const auto once = services.add<mill::once>().handle();
    co_await expect("well", services.start(once));
    EXPECT_EQ(services.get<mill::once>().value, 7);
    co_await expect("invalid_argument", services.restart(once));
  });
  EXPECT_EQ(messages.messages, lines{"mill::once cannot be made: its options cannot be copied, "
                                     "and went into the first one"});
}

}  // namespace
