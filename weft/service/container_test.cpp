#include <weft/service/container.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/service/captured_log_test.hpp>

using namespace std::chrono_literals;

namespace shop {

// What happened, in order; the services below write into it.
struct diary {
  std::vector<std::string> lines;
  void note(std::string line) { lines.push_back(std::move(line)); }
};

struct store_options {
  std::string file = "default.db";
  bool fails = false;
};

class store {
 public:
  using options = store_options;
  store(options given, diary& log, weft::event_loop& loop)
      : options_{std::move(given)}, log_{log}, loop_{loop} {
    log_.note("store made");
  }
  ~store() { log_.note("store gone"); }
  weft::task<weft::result<void>> start() {
    static_cast<void>(co_await weft::sleep_for(loop_, 1ms));
    log_.note("store started with " + options_.file);
    if (options_.fails) co_return weft::fail(weft::errc::unavailable);
    co_return weft::result<void>{};
  }
  weft::task<weft::result<void>> stop() {
    static_cast<void>(co_await weft::sleep_for(loop_, 1ms));
    log_.note("store stopped");
    co_return weft::fail(weft::errc::timed_out);
  }

 private:
  options options_;
  diary& log_;
  weft::event_loop& loop_;
};

class cache {
 public:
  cache(store& below, diary& log) : below_{below}, log_{log} { log_.note("cache made"); }
  ~cache() { log_.note("cache gone"); }
  weft::result<void> start() {
    log_.note("cache started");
    return {};
  }
  void stop() { log_.note("cache stopped"); }
  store& below() { return below_; }

 private:
  store& below_;
  diary& log_;
};

class api {
 public:
  api(diary& log, cache& data, store& below) : log_{log}, same_{&data.below() == &below} {
    log_.note("api made");
  }
  ~api() { log_.note("api gone"); }
  void start() { log_.note(same_ ? "api started" : "api saw two stores"); }

 private:
  diary& log_;
  bool same_;
};

struct counters {  // an aggregate that needs nothing
  int requests = 0;
  int errors = 0;
};

class chooser {  // two constructors, and says which
 public:
  using inject = weft::dependencies<counters&, diary&>;
  chooser() = default;
  chooser(counters& all, diary&) : all_{&all} {}
  counters* all() { return all_; }

 private:
  counters* all_ = nullptr;
};

class orders {  // names its dependencies, and needs the store before the cache
 public:
  using inject = weft::dependencies<diary&, store&, cache&>;
  orders(diary&, store&, cache&) {}
  explicit orders(diary&) {}
};

struct first;
struct second;
struct third;
struct first {
  explicit first(second&) {}
};
struct second {
  explicit second(third&) {}
};
struct third {
  explicit third(first&) {}
};
struct gate {
  explicit gate(first&) {}
};

struct thrower {
  thrower() { throw std::runtime_error{"no licence"}; }
};
struct above_thrower {
  explicit above_thrower(thrower&) {}
};

}  // namespace shop

namespace {

using lines = std::vector<std::string>;
using weft::captured_log;
using weft::container;
using weft::errc;
using weft::result;
using weft::task;

task<void> keep_result(task<result<void>> work, result<void>& outcome) {
  outcome = co_await std::move(work);
}

// A loop without kernel whose clock jumps to the next timer, and a container that knows it.
class container_on_a_loop : public ::testing::Test {
 protected:
  container_on_a_loop() {
    services.provide(*loop);
    services.provide(diary);
  }

  result<void> run(task<result<void>> work) {
    result<void> outcome = weft::fail(errc::cancelled);
    loop->spawn(keep_result(std::move(work), outcome));
    loop->run();
    return outcome;
  }

  std::unique_ptr<weft::event_loop> loop =
      *weft::event_loop::create({.backend = weft::backend_kind::simulated});
  shop::diary diary;
  container services;
};

TEST_F(container_on_a_loop, makes_and_starts_what_is_needed_first_and_ends_in_reverse) {
  captured_log quiet;
  {
    container own;
    own.provide(*loop);
    own.provide(diary);
    own.add<shop::api>();
    own.add<shop::cache>();
    own.add<shop::store>({.file = "orders.db"});
    EXPECT_EQ(own.find<shop::store>(), nullptr);
    ASSERT_TRUE(run(own.start()));
    EXPECT_EQ(diary.lines, (lines{"store made", "cache made", "api made",
                                  "store started with orders.db", "cache started", "api started"}));
    EXPECT_EQ(own.find<shop::store>(), &own.get<shop::store>());
    diary.lines.clear();
    const auto stopped = run(own.stop());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error(), errc::timed_out);
    EXPECT_EQ(diary.lines, (lines{"cache stopped", "store stopped"}));
    diary.lines.clear();
  }
  EXPECT_EQ(diary.lines, (lines{"api gone", "cache gone", "store gone"}));
}

TEST_F(container_on_a_loop, stops_what_had_started_when_a_later_service_fails) {
  captured_log log;
  services.add<shop::store>({.fails = true});
  services.add<shop::cache>();
  const auto started = run(services.start());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::unavailable);
  ASSERT_EQ(log.messages.size(), 1U);
  EXPECT_TRUE(log.messages[0].starts_with("shop::cache -> shop::store did not start: "))
      << log.messages[0];
  diary.lines.clear();
  EXPECT_TRUE(run(services.stop()));
  EXPECT_EQ(diary.lines, lines{}) << "what did not start is not stopped";
}

TEST_F(container_on_a_loop, takes_an_exception_for_a_failure_and_stops_the_others) {
  struct steady {
    explicit steady(int& count) : stops{count} {}
    void start() {}
    void stop() { ++stops; }
    int& stops;
  };
  struct thrower {
    explicit thrower(steady&) {}
    void start() { throw std::runtime_error{"no luck"}; }
  };
  struct late_thrower {
    explicit late_thrower(steady&) {}
    void start() {}
    void stop() { throw std::runtime_error{"no end"}; }
  };
  captured_log log;
  int stops = 0;
  services.provide(stops);
  services.add<steady>();
  services.add<late_thrower>();
  services.add<thrower>();
  EXPECT_FALSE(run(services.start()));
  EXPECT_FALSE(run(services.stop()));
  EXPECT_EQ(stops, 1);
  EXPECT_TRUE(std::ranges::any_of(
      log.messages, [](const std::string& m) { return m.ends_with(" threw: no luck"); }));
  EXPECT_TRUE(std::ranges::any_of(
      log.messages, [](const std::string& m) { return m.ends_with(" threw: no end"); }));
}

TEST_F(container_on_a_loop, makes_aggregates_and_classes_that_name_their_dependencies) {
  services.add<shop::counters>();
  services.add<shop::chooser>();
  const shop::counters* const all = services.get<shop::chooser>().all();
  EXPECT_EQ(all, services.find<shop::counters>());
  EXPECT_EQ(services.get<shop::counters>().requests, 0);
}

TEST_F(container_on_a_loop, asks_for_named_dependencies_from_the_first_to_the_last) {
  captured_log log;
  services.add<shop::orders>();
  EXPECT_FALSE(run(services.start()));
  EXPECT_EQ(log.messages, (lines{"shop::orders needs shop::store, which nobody provides: "
                                 "add<shop::store>() is missing",
                                 "shop::orders needs shop::cache, which nobody provides: "
                                 "add<shop::cache>() is missing"}));
}

TEST_F(container_on_a_loop, says_what_is_missing_and_who_needs_it) {
  captured_log log;
  services.add<shop::api>();
  services.add<shop::cache>();
  const auto started = run(services.start());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::not_found);
  EXPECT_EQ(
      log.messages,
      (lines{"shop::api needs shop::store, which nobody provides: add<shop::store>() is missing",
             "shop::cache needs shop::store, which nobody provides: add<shop::store>() is "
             "missing (shop::api -> shop::cache -> shop::store)"}));
}

TEST_F(container_on_a_loop, says_what_the_program_itself_asked_for_in_vain) {
  try {
    static_cast<void>(services.get<shop::counters>());
    FAIL() << "there is none";
  } catch (const std::logic_error& why) {
    EXPECT_STREQ(why.what(),
                 "the program needs shop::counters, which nobody provides: "
                 "add<shop::counters>() is missing");
  }
}

TEST_F(container_on_a_loop, shows_a_circle_from_end_to_end) {
  captured_log log;
  services.add<shop::gate>();
  services.add<shop::first>();
  services.add<shop::second>();
  services.add<shop::third>();
  const auto started = run(services.start());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), errc::invalid_argument);
  EXPECT_EQ(log.messages,
            lines{"services need each other in a circle: "
                  "shop::first -> shop::second -> shop::third -> shop::first; let one "
                  "of them ask for weft::maybe<T>, or for what both need"});
}

TEST_F(container_on_a_loop, reports_a_constructor_that_throws_and_can_be_asked_again) {
  captured_log log;
  services.add<shop::above_thrower>();
  services.add<shop::thrower>();
  for (int i = 0; i < 2; ++i) {
    const auto started = run(services.start());
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error(), errc::invalid_argument);
  }
  const std::string expected = "shop::above_thrower -> shop::thrower cannot be made: no licence";
  EXPECT_EQ(log.messages, (lines{expected, expected}));
}

static_assert(weft::type_name<shop::counters> == "shop::counters");
static_assert(weft::type_name<int> == "int");
static_assert(weft::type_name<std::vector<shop::store>> !=
              weft::type_name<std::vector<shop::cache>>);

}  // namespace
