// Services that are there only while somebody needs them.
#include <weft/service/container_change_fixture_test.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

namespace inn {

using mill::journal;

struct noting {
  noting(journal& into, std::string who) : log{into}, name{std::move(who)} {}
  noting(const noting&) = delete;
  noting& operator=(const noting&) = delete;
  ~noting() = default;
  void start() { log.note(name + " started"); }
  void stop() { log.note(name + " stopped"); }
  journal& log;
  std::string name;
};
struct well : noting {
  explicit well(journal& into) : noting{into, "well"} {}
};
struct kitchen : noting {
  kitchen(journal& into, well&) : noting{into, "kitchen"} {}
};
struct stove : noting {
  stove(journal& into, kitchen&, weft::container& in, weft::lifetime& mine)
      : noting{into, "stove"}, services{in}, own{mine} {}
  weft::task<void> send_off(weft::service_handle guest) {
    const auto down = co_await services.stop(guest);
    log.note(down ? "sent off" : "not sent off");
  }
  weft::container& services;
  weft::lifetime& own;
};
struct guest : noting {
  guest(journal& into, stove&) : noting{into, "guest"} {}
};
struct stranger : noting {
  stranger(journal& into, weft::maybe<stove> one) : noting{into, "stranger"}, warm{one} {}
  weft::maybe<stove> warm;
};
struct poor_guest : noting {
  poor_guest(journal& into, stove&) : noting{into, "poor guest"} {}
  weft::result<void> start() { return weft::fail(weft::errc::refused); }
};
struct loop_end;
struct loop_begin {
  loop_begin(loop_end&, kitchen&) {}
};
struct loop_end {
  explicit loop_end(loop_begin&) {}
};

}  // namespace inn

namespace {

using mill::lines;
using weft::both;
using weft::captured_log;
using weft::container_change;
using weft::result;
using weft::said;
using weft::service_handle;
using weft::task;

// A well for all; a kitchen and a stove in it for whoever comes.
class container_lazy : public container_change {
 protected:
  service_handle stove = services.add<inn::stove>().lazy().handle();
  service_handle kitchen = services.add<inn::kitchen>().lazy().handle();
  service_handle well = services.add<inn::well>().handle();
};

const lines warm{"kitchen started", "stove started"};
const lines cold{"stove stopped", "kitchen stopped"};

TEST_F(container_lazy, sleeps_until_somebody_needs_it_and_again_after_the_last) {
  run([this]() -> task<void> {
    EXPECT_EQ(log.take(), lines{"well started"});
    const auto first = services.add<inn::guest>().named("first").handle();
    const auto second = services.add<inn::guest>().named("second").handle();
    co_await expect("well", services.start(first));
    EXPECT_EQ(log.take(), both(warm, {"guest started"}));
    co_await expect("well", services.start(second));
    co_await expect("well", services.stop(first));
    EXPECT_EQ(log.take(), (lines{"guest started", "guest stopped"}));
    co_await expect("well", services.remove(second));
    EXPECT_EQ(log.take(), both({"guest stopped"}, cold));
    EXPECT_EQ(services.find<inn::stove>(), nullptr);
    co_await expect("well", services.start(first));
    EXPECT_EQ(log.take(), both(warm, {"guest started"}));
  });
}

TEST_F(container_lazy, stays_when_who_needs_it_restarts) {
  const auto guest = services.add<inn::guest>().handle();
  run([&]() -> task<void> {
    log.notes.clear();
    co_await expect("well", services.restart(guest));
    EXPECT_EQ(log.take(), (lines{"guest stopped", "guest started"}));
    co_await expect("well", services.restart(well));
    EXPECT_EQ(log.take(), both(both({"guest stopped"}, cold), both({"well stopped", "well started"},
                                                                   both(warm, {"guest started"}))));
  });
}

TEST_F(container_lazy, goes_with_what_it_needs_and_comes_back_for_somebody_only) {
  const auto guest = services.add<inn::guest>().handle();
  run([&]() -> task<void> {
    co_await expect("well", services.stop(well));
    log.notes.clear();
    co_await expect("well", services.remove(guest));
    co_await expect("well", services.start(well));
    EXPECT_EQ(log.take(), lines{"well started"});
  });
}

TEST_F(container_lazy, is_there_for_who_hopes_for_it) {
  const auto stranger = services.add<inn::stranger>().handle();
  run([&]() -> task<void> {
    EXPECT_NE(services.get<inn::stranger>().warm.get(), nullptr);
    EXPECT_EQ(log.take(), both({"well started"}, both(warm, {"stranger started"})));
    co_await expect("well", services.stop(stranger));
    EXPECT_EQ(log.take(), both({"stranger stopped"}, cold));
  });
}

TEST_F(container_lazy, does_not_stay_for_who_has_failed) {
  captured_log messages;
  run([&]() -> task<void> {
    log.notes.clear();
    const auto poor = services.add<inn::poor_guest>().handle();
    co_await expect("refused", services.start(poor));
    EXPECT_EQ(log.take(), both(warm, cold));
  });
}

TEST_F(container_lazy, does_not_wake_for_who_lacks_something_else) {
  captured_log messages;
  struct demanding : inn::noting {
    demanding(mill::journal& into, inn::stove&, mill::wheel&) : noting{into, "demanding"} {}
  };
  run([&]() -> task<void> {
    log.notes.clear();
    const auto one = services.add<demanding>().handle();
    co_await expect("not_found", services.start(one));
    EXPECT_EQ(log.take(), lines{});
    co_await expect("well", services.start(services.add<mill::wheel>().handle()));
    EXPECT_EQ(log.take(), both({"wheel made", "wheel started"}, both(warm, {"demanding started"})));
  });
  ASSERT_EQ(messages.messages.size(), 1U);
  EXPECT_TRUE(messages.messages[0].contains("add<mill::wheel>() is missing"))
      << messages.messages[0];
}

TEST_F(container_lazy, may_be_started_by_hand) {
  run([&]() -> task<void> {
    log.notes.clear();
    co_await expect("well", services.start(stove));
    EXPECT_EQ(log.take(), warm);
    co_await expect("well", services.restart(well));
    co_await expect("well", services.stop(stove));
    EXPECT_EQ(services.find<inn::kitchen>(), nullptr);
  });
}

TEST_F(container_lazy, is_left_where_it_asks_itself_for_the_change) {
  const auto guest = services.add<inn::guest>().handle();
  run([&]() -> task<void> {
    log.notes.clear();
    auto& asking = services.get<inn::stove>();
    asking.own.spawn(asking.send_off(guest));
    co_await pause(1ms);
    EXPECT_EQ(log.take(), (lines{"guest stopped", "sent off"}));
    co_await expect("well", services.stop(guest));
    EXPECT_EQ(log.take(), cold) << "the next change sees to it";
  });
}

TEST_F(container_lazy, does_not_wake_a_circle_without_end) {
  captured_log messages;
  services.add<inn::loop_begin>().lazy();
  services.add<inn::loop_end>().lazy();
  struct caller {
    explicit caller(inn::loop_end&) {}
  };
  run([&]() -> task<void> {
    const auto one = services.add<caller>().handle();
    co_await expect("unavailable", services.start(one));
  });
}

TEST_F(container_lazy, does_not_hide_a_circle) {
  captured_log messages;
  services.add<inn::loop_begin>();
  services.add<inn::loop_end>();
  std::optional<result<void>> up;
  loop->spawn(keep(services.start(), up));
  loop->run();
  EXPECT_EQ(said(up), "invalid_argument");
  ASSERT_EQ(messages.messages.size(), 1U);
  EXPECT_TRUE(messages.messages[0].starts_with(
      "services need each other in a circle: inn::loop_begin -> inn::loop_end -> inn::loop_begin"))
      << messages.messages[0];
}

}  // namespace
