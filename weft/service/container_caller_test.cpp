// Who waits for a change through others: whom it calls, and whom a start() waits for.
#include <weft/service/container_change_fixture_test.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <weft/service/remote.hpp>

using namespace std::chrono_literals;

namespace post {

using mill::journal;

// Asks for changes because somebody calls it.
struct desk {
  explicit desk(weft::container& in) : services{in} {}
  weft::task<weft::result<void>> end(weft::service_handle one) {
    co_return co_await services.stop(one);
  }
  weft::task<weft::result<void>> end_all() { co_return co_await services.stop(); }
  weft::container& services;
};
// Calls it, from a task or from its start.
struct sender {
  sender(weft::remote<desk>& to, weft::lifetime& mine, journal& into)
      : far{to}, own{mine}, log{into} {}
  weft::task<weft::result<void>> start() {
    if (ends_in_start != weft::service_handle{}) co_await end(ends_in_start);
    co_return weft::result<void>{};
  }
  weft::task<void> end(weft::service_handle one) { co_await told(far.call(&desk::end, one)); }
  weft::task<void> end_all() { co_await told(far.call(&desk::end_all)); }
  weft::task<void> told(weft::task<weft::result<void>> answer) {
    const auto how = co_await std::move(answer);
    log.note(weft::said(how));
  }
  static inline weft::service_handle ends_in_start{};
  weft::remote<desk>& far;
  weft::lifetime& own;
  journal& log;
};
struct recipient {
  explicit recipient(sender&) {}
};
// Waits for one that comes after it: itself, or in a task.
struct waiting {
  waiting(weft::container& in, weft::event_loop& on, weft::lifetime& mine, journal& into)
      : services{in}, loop{on}, log{into} {
    mine.spawn(see_wheel());
  }
  weft::task<weft::result<void>> start() {
    static_cast<void>(co_await weft::sleep_for(loop, 1ms));
    if (!waits_in_start) co_return weft::result<void>{};
    const auto seen = co_await services.wait_for<mill::wheel>();
    if (!seen) co_return weft::fail(seen.error());
    co_return weft::result<void>{};
  }
  weft::task<void> see_wheel() { log.note(weft::said(co_await services.wait_for<mill::wheel>())); }
  static inline bool waits_in_start = false;
  weft::container& services;
  weft::event_loop& loop;
  journal& log;
};

}  // namespace post

namespace {

using mill::lines;
using weft::captured_log;
using weft::container_change;
using weft::result;
using weft::said;
using weft::task;

class container_caller : public container_change {
 protected:
  container_caller() {
    const auto desk = services.add<post::desk>().handle();
    services.add<weft::detail::remote_offer<post::desk>>()
        .as<weft::remote<post::desk>>()
        .bind<post::desk>(desk);
  }
  weft::service_handle sender = services.add<post::sender>().handle();
};

TEST_F(container_caller, does_not_end_by_whom_it_calls) {
  captured_log messages;
  services.add<post::recipient>();
  run([this]() -> task<void> {
    auto& one = services.get<post::sender>();
    one.own.spawn(one.end(sender));
    co_await pause(1ms);
    EXPECT_EQ(log.take(), lines{"invalid_argument"});
    one.own.spawn(one.end_all());
    co_await pause(1ms);
    EXPECT_EQ(log.take(), lines{"invalid_argument"});
  });
  EXPECT_EQ(
      messages.messages,
      (lines{"post::sender waits for post::sender to stop, which waits for post::sender to end",
             "weft::detail::remote_offer<post::desk> waits for all to stop, which waits for it to "
             "end: ask the program to "
             "stop instead"}));
}

TEST_F(container_caller, ends_others_by_whom_it_calls) {
  const auto wheel = services.add<mill::wheel>().handle();
  run([&]() -> task<void> {
    log.notes.clear();
    auto& one = services.get<post::sender>();
    one.own.spawn(one.end(wheel));
    co_await pause(1ms);
    EXPECT_EQ(log.take(), (lines{"wheel stopped", "wheel gone", "well"}));
  });
}

TEST_F(container_caller, asks_for_no_change_in_its_start) {
  captured_log messages;
  post::sender::ends_in_start = services.add<mill::wheel>().handle();
  run([this]() -> task<void> {
    EXPECT_EQ(log.take(), (lines{"wheel made", "invalid_argument", "wheel started"}));
    co_return;
  });
  post::sender::ends_in_start = {};
  EXPECT_EQ(messages.messages, lines{"weft::detail::remote_offer<post::desk> asks for a change "
                                     "while one waits for a start() or stop() that waits "
                                     "for it, or may: ask in a task of its own, later"});
}

TEST_F(container_caller, does_not_wait_in_its_start_for_what_comes_later) {
  captured_log messages;
  services.add<post::waiting>();
  services.add<mill::wheel>();
  post::waiting::waits_in_start = true;
  std::optional<result<void>> up;
  const auto both_ends = [&]() -> task<void> {
    up = co_await services.start();
    static_cast<void>(co_await services.stop());
  };
  loop->spawn(both_ends());
  loop->run();
  post::waiting::waits_in_start = false;
  EXPECT_EQ(said(up), "invalid_argument");
  ASSERT_FALSE(messages.messages.empty());
  EXPECT_EQ(
      messages.messages.front(),
      "post::waiting waits in its start() or stop() for mill::wheel, which no change can "
      "start meanwhile: take a mill::wheel& in the constructor, or wait in a task of its own");
}

TEST_F(container_caller, waits_in_a_task_for_what_comes_later) {
  services.add<post::waiting>();
  services.add<mill::wheel>();
  run([this]() -> task<void> {
    co_await pause(1ms);
    EXPECT_EQ(log.take(), (lines{"wheel made", "wheel started", "well"}));
  });
}

}  // namespace
