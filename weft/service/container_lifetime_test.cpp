// Whose a registration or a task is, and when it ends, as the container makes and ends services.
#include <weft/service/container.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/no_frames_test.hpp>
#include <weft/service/event_bus.hpp>
#include <weft/testing/allocation_failure.hpp>

using namespace std::chrono_literals;

namespace {

using weft::lifetime;
using weft::result;
using weft::task;
using lines = std::vector<std::string>;

struct diary {
  lines notes;
};

std::string current() {
  const lifetime* const now = lifetime::current();
  return now == nullptr ? "nobody" : std::string{now->name().substr(now->name().rfind(':') + 1)};
}

struct sync_one {
  explicit sync_one(diary& into) : all{into.notes} { all.push_back("made: " + current()); }
  void start() { all.push_back("started: " + current()); }
  void stop() { all.push_back("stopped: " + current()); }
  lines& all;
};
struct waiting_one {
  waiting_one(diary& into, weft::event_loop& on, sync_one&) : all{into.notes}, loop{on} {}
  task<result<void>> start() {
    all.push_back("starts: " + current());
    static_cast<void>(co_await weft::sleep_for(loop, 1ms));
    all.push_back("waited: " + current());
    all.push_back((co_await weft::this_task::environment()).owner == nullptr ? "lost" : "known");
    co_return result<void>{};
  }
  lines& all;
  weft::event_loop& loop;
};
struct hasty_one {
  hasty_one(diary& into, waiting_one&) : all{into.notes} {}
  task<result<void>> start() {
    all.push_back("hastens: " + current());
    co_return result<void>{};
  }
  lines& all;
};

// Needs the sync_one until its task has ended.
struct busy_one {
  busy_one(diary& into, weft::event_loop& on, sync_one&, lifetime& own)
      : all{into.notes}, loop{on} {
    own.spawn(work());
  }
  void stop() { all.push_back("busy stops"); }
  task<void> work() {
    while (co_await weft::sleep_for(loop, 1h)) {}
    const weft::environment deaf{.runs_on = &loop};
    co_await finish().in(deaf);
  }
  task<void> finish() {
    static_cast<void>(co_await weft::sleep_for(loop, 1ms));
    all.push_back("work ended");
  }
  lines& all;
  weft::event_loop& loop;
};

// Keeps those behind it from being started.
struct failing_one {
  result<void> start() { return weft::fail(weft::errc::unavailable); }
};

struct late_failing_one {
  explicit late_failing_one(weft::event_loop& on) : loop{on} {}
  task<result<void>> start() {
    static_cast<void>(co_await weft::sleep_for(loop, 1ms));
    co_return weft::fail(weft::errc::refused);
  }
  weft::event_loop& loop;
};

struct remark {};
// Hears what it says, and thinks of it for a long time.
struct listening_one {
  listening_one(diary& into, weft::event_loop& on, weft::event_bus& events)
      : all{into.notes}, loop{on} {
    events.on<remark>([this](const remark&) { return think(); });
    EXPECT_TRUE(events.publish(remark{}));
  }
  task<void> think() {
    all.push_back("heard");
    static_cast<void>(co_await weft::sleep_for(loop, 1h));
    all.push_back("ended");
  }
  lines& all;
  weft::event_loop& loop;
};

struct note_of_end : weft::registration {
  explicit note_of_end(diary& into)
      : registration{[](registration& self) noexcept {
          static_cast<note_of_end&>(self).all.push_back("taken out");
        }},
        all{into.notes} {}
  lines& all;
};
struct registered {
  explicit registered(diary& into, note_of_end& part) : all{into.notes} {
    lifetime::current()->attach(part);
  }
  registered(const registered&) = delete;
  registered& operator=(const registered&) = delete;
  ~registered() { all.push_back("destroyed"); }
  lines& all;
};

class container_lifetime : public ::testing::Test {
 protected:
  task<void> live(weft::container& services, bool stops) {
    EXPECT_TRUE(co_await services.start());
    all.notes.push_back("up: " + current());
    if (stops) EXPECT_TRUE(co_await services.stop());
  }
  void run(weft::container& services, bool stops = true) {
    services.provide(*loop);
    services.provide(all);
    loop->spawn(live(services, stops));
    loop->run();
  }

  std::unique_ptr<weft::event_loop> loop =
      *weft::event_loop::create({.backend = weft::backend_kind::simulated});
  diary all;
};

TEST_F(container_lifetime, is_that_of_the_service_being_made_or_started_up_to_its_first_wait) {
  weft::container services;
  services.add<sync_one>();
  services.add<waiting_one>();
  services.add<hasty_one>();
  run(services);
  EXPECT_EQ(all.notes,
            (lines{"made: sync_one", "started: sync_one", "starts: waiting_one", "waited: nobody",
                   "known", "hastens: hasty_one", "up: nobody", "stopped: sync_one"}));
}

TEST_F(container_lifetime, ends_tasks_of_a_service_before_what_it_needs_stops) {
  weft::container services;
  services.add<sync_one>();
  services.add<busy_one>();
  run(services);
  EXPECT_EQ(all.notes, (lines{"made: sync_one", "started: sync_one", "up: nobody", "busy stops",
                              "work ended", "stopped: sync_one"}));
}

TEST_F(container_lifetime, ends_tasks_of_what_was_made_and_never_started) {
  weft::container services;
  services.provide(*loop);
  services.provide(all);
  services.add<sync_one>();
  services.add<failing_one>();
  services.add<busy_one>();
  loop->spawn([](weft::container& all_services) -> task<void> {
    const auto up = co_await all_services.start();
    EXPECT_FALSE(up);
    const auto down = co_await all_services.stop();
    EXPECT_TRUE(down);
  }(services));
  loop->run();
  EXPECT_EQ(all.notes,
            (lines{"made: sync_one", "started: sync_one", "work ended", "stopped: sync_one"}));
}

// The bus has not been started either, so nobody stops it.
TEST_F(container_lifetime, ends_handlers_of_what_was_made_and_never_started) {
  weft::container services;
  services.provide(*loop);
  services.provide(all);
  services.add<late_failing_one>();
  services.add<weft::event_bus>();
  services.add<listening_one>();
  loop->spawn([](weft::container& all_services) -> task<void> {
    const auto up = co_await all_services.start();
    EXPECT_FALSE(up);
    const auto down = co_await all_services.stop();
    EXPECT_TRUE(down);
  }(services));
  loop->run();
  EXPECT_EQ(all.notes, (lines{"heard", "ended"}));
}

TEST_F(container_lifetime, takes_out_what_is_registered_before_the_service_is_destroyed) {
  note_of_end part{all};
  {
    weft::container services;
    services.provide(part);
    services.add<registered>();
    run(services);
    EXPECT_EQ(all.notes, (lines{"up: nobody", "taken out"})) << "when all have stopped";
  }
  EXPECT_EQ(all.notes, (lines{"up: nobody", "taken out", "destroyed"}));
}

struct sleepy_one {
  sleepy_one(diary& into, weft::event_loop& on) : all{into.notes}, loop{on} {}
  task<result<void>> stop() {
    static_cast<void>(co_await weft::sleep_for(loop, 1ms));
    all.push_back("sleepy stops");
    co_return result<void>{};
  }
  lines& all;
  weft::event_loop& loop;
};
/// After whose stop() there is no memory for another frame, at first.
struct greedy_one {
  greedy_one(diary& into, sleepy_one&) : all{into.notes} {}
  void stop() {
    all.push_back("greedy stops");
    none.emplace();
  }
  lines& all;
  std::optional<weft::net::no_frames> none;
};

TEST_F(container_lifetime, a_stop_for_which_there_is_no_memory_is_tried_again) {
  if (!weft::testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  weft::container services;
  services.add<sleepy_one>();
  services.add<greedy_one>();
  run(services);
  EXPECT_EQ(all.notes, (lines{"up: nobody", "greedy stops", "sleepy stops"}));
}

}  // namespace
