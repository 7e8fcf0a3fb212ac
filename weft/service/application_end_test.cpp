// A program that is asked to end does, and says what it waited for if it had to be forced.
#include <weft/service/application.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>

namespace {

using std::chrono::milliseconds;

/// Ignores that it is asked to stop.
weft::task<void> go_on(weft::event_loop& loop) {
  const weft::environment deaf{.stop = {}, .until = {}, .runs_on = &loop};
  const auto sleep = [](weft::event_loop& on) -> weft::task<void> {
    std::ignore = co_await weft::sleep_for(on, std::chrono::hours{1});
  };
  co_await sleep(loop).in(deaf);
}

struct never_stops {
  explicit never_stops(weft::event_loop& loop) : loop_{loop} {}
  weft::task<weft::result<void>> stop() {
    co_await go_on(loop_);
    co_return weft::result<void>{};
  }
  weft::event_loop& loop_;
};

struct leaves_a_task {
  explicit leaves_a_task(weft::event_loop& loop) { loop.spawn(go_on(loop)); }
};

struct keeps_its_thread {
  explicit keeps_its_thread(weft::event_loop& loop) { loop.spawn(block(loop)); }
  static weft::task<void> block(weft::event_loop& loop) {
    co_await weft::yield{loop};
    for (;;) std::this_thread::sleep_for(milliseconds{10});
  }
};

struct never_starts {
  explicit never_starts(weft::event_loop& loop) : loop_{loop} {}
  weft::task<weft::result<void>> start() {
    co_await go_on(loop_);
    co_return weft::result<void>{};
  }
  weft::event_loop& loop_;
};

struct has_connections {
  [[nodiscard]] std::size_t connections() const { return 3; }
};

template <class Service>
int run_and_stop(const char* threads) {
  std::string name = "program";
  std::string option = std::string{"--threads="} + threads;
  std::string format = "--log-format=pretty";
  std::vector<char*> arguments{name.data(), option.data(), format.data()};
  weft::application app{
      3, arguments.data(), {.stop_timeout = milliseconds{50}, .end_timeout = milliseconds{100}}};
  app.add<Service>();
  std::thread asking{[&app] {
    std::this_thread::sleep_for(milliseconds{100});
    app.request_stop();
  }};
  const int code = app.run();
  asking.join();
  return code;
}

class application_end_death_test : public ::testing::Test {
 protected:
  application_end_death_test() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(application_end_death_test, says_which_service_does_not_stop) {
  EXPECT_EXIT(std::exit(run_and_stop<never_stops>("1")), ::testing::ExitedWithCode(1),
              "shard 0 waits for .*never_stops to stop");
  EXPECT_EXIT(std::exit(run_and_stop<never_stops>("2")), ::testing::ExitedWithCode(1),
              "shard 1 waits for .*never_stops to stop");
}

TEST_F(application_end_death_test, says_that_a_task_was_left_behind) {
  EXPECT_EXIT(std::exit(run_and_stop<leaves_a_task>("1")), ::testing::ExitedWithCode(1),
              "shard 0 waits for tasks that services left behind");
}

TEST_F(application_end_death_test, names_each_task_that_is_left_and_counts_the_rest) {
  EXPECT_EXIT(std::exit(run_and_stop<leaves_a_task>("2")), ::testing::ExitedWithCode(1),
              "shard 0 has left: 1 task, 1 timer, 0 buffers, 0 operations\n.*"
              "  1 task waits in .*go_on.* at application_end_test.cpp:.* > (.|\n)*"
              "shard 1 has left: 1 task, 1 timer");
}

TEST_F(application_end_death_test, says_that_something_keeps_the_thread) {
  EXPECT_EXIT(std::exit(run_and_stop<keeps_its_thread>("1")), ::testing::ExitedWithCode(1),
              "shard 0 has not heard that it is to stop: something keeps its thread(.|\n)*"
              "shard 0 does not say what it has left: its thread is kept by a task, resumed in "
              ".*keeps_its_thread::block.* at application_end_test.cpp:");
}

TEST_F(application_end_death_test, says_that_a_service_is_still_starting) {
  EXPECT_EXIT(std::exit(run_and_stop<never_starts>("1")), ::testing::ExitedWithCode(1),
              "shard 0 is still starting its services");
}

TEST_F(application_end_death_test, counts_what_is_drained_over_all_shards) {
  EXPECT_EXIT(std::exit(run_and_stop<has_connections>("2")), ::testing::ExitedWithCode(0),
              "draining 6 connections, for 0s at most(.|\n)*ended, ");
}

}  // namespace
