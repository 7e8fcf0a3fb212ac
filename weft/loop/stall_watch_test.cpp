#include <weft/loop/stall_watch.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using std::chrono::milliseconds;

/// Each test waits for what it tests to be said, however long that takes on a busy machine.
class stall_watch_test : public loop_fixture, public ::testing::WithParamInterface<backend_kind> {
 protected:
  void SetUp() override {
    log::set_sink(
        [](log::level, std::string_view line, void* to) {
          auto& test = *static_cast<stall_watch_test*>(to);
          const std::lock_guard lock{test.mutex_};
          test.said_ += std::string{line} + '\n';
        },
        this);
    open({.backend = GetParam(), .watched_by = &watch_});
  }
  void TearDown() override {
    loop_fixture::TearDown();
    log::set_sink(nullptr, nullptr);
  }

  std::string said() {
    const std::lock_guard lock{mutex_};
    return said_;
  }
  /// Keeps the thread until it is noticed: what the loop then is asked for, it will say.
  void keep_until_noticed() {
    while (!loop_->pulse().is_overdue) std::this_thread::sleep_for(milliseconds{1});
  }
  void keep_until_said(std::string_view what) {
    while (!said().contains(what)) std::this_thread::sleep_for(milliseconds{1});
  }
  task<void> compress() {
    keep_until_noticed();
    co_await yield{*loop_};
  }
  task<void> serve() {
    co_await yield{*loop_};
    co_await compress();
  }
  task<void> end_at_last() {
    co_await yield{*loop_};
    keep_until_noticed();
  }
  task<void> stay_until_said(std::string_view what) {
    co_await yield{*loop_};
    keep_until_said(what);
  }
  task<void> be_posted_to() {
    co_await yield{*loop_};
    std::ignore = loop_->post([this] { keep_until_noticed(); });
    std::ignore = co_await sleep_for(*loop_, milliseconds{1});  // a turn begins with the mail
  }

  stall_watch watch_{milliseconds{20}};

 private:
  std::mutex mutex_;
  std::string said_;
};

INSTANTIATE_TEST_SUITE_P(backends, stall_watch_test, kernel_backends, backend_name);

TEST_P(stall_watch_test, a_task_that_keeps_its_loop_is_named_with_its_chain) {
  loop_->spawn(serve());
  loop_->run();
  EXPECT_TRUE(said().contains("shard 0 was kept for ")) << said();
  EXPECT_TRUE(said().contains(" by a task, resumed in ")) << said();
  const std::string chain = said().substr(said().find(", now in "));
  EXPECT_LT(chain.find("serve"), chain.find(" > ")) << said();
  EXPECT_NE(chain.find("compress", chain.find(" > ")), std::string::npos) << said();
}

TEST_P(stall_watch_test, a_task_that_ends_at_last_is_named_by_where_it_was_resumed) {
  loop_->spawn(end_at_last());
  loop_->run();
  EXPECT_TRUE(said().contains(" by a task, resumed in ")) << said();
  EXPECT_TRUE(said().contains("stall_watch_test.cpp:")) << said();
  EXPECT_TRUE(said().contains(", which has ended")) << said();
}

TEST_P(stall_watch_test, a_task_that_does_not_return_is_named_from_outside) {
  loop_->spawn(stay_until_said("so far by a task, resumed in "));
  loop_->run();
  EXPECT_TRUE(said().contains("shard 0 has been kept for ")) << said();
}

TEST_P(stall_watch_test, what_is_no_task_is_not_put_on_one) {
  loop_->spawn(be_posted_to());
  loop_->run();
  EXPECT_TRUE(said().contains(" by what is no task")) << said();
}

TEST_P(stall_watch_test, a_loop_that_sleeps_is_not_at_work) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    std::ignore = co_await sleep_for(loop, std::chrono::hours{1});
  }(*loop_));
  std::thread other{[this] {
    while (loop_->gauges().sleeps == 0 || loop_->pulse().is_working) std::this_thread::yield();
    loop_->post_stop();
  }};
  loop_->run();
  other.join();
}

TEST_P(stall_watch_test, sleeps_while_its_loops_do_and_wakes_with_them) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    std::ignore = co_await sleep_for(loop, std::chrono::hours{1});
  }(*loop_));
  std::thread other{[this] {
    while (!watch_.dozes()) std::this_thread::yield();
    std::ignore = loop_->post([this] { keep_until_said("has been kept for "); });
    loop_->post_stop();
  }};
  loop_->run();
  other.join();
  EXPECT_TRUE(said().contains(" so far by what is no task")) << said();
}

TEST_P(stall_watch_test, a_loop_can_end_before_its_watch_and_another_begin) {
  loop_.reset();
  open({.backend = GetParam(), .watched_by = &watch_});
  loop_->spawn(serve());
  loop_->run();
  EXPECT_TRUE(said().contains("kept")) << said();
}

}  // namespace
}  // namespace weft
