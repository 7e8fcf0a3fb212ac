// Tasks that wait for each other, each with a stop request and a deadline of its own, and a test
// that looks at how far they are.
//
//   using my_test = party_fixture;
//   TEST_F(my_test, waits) {
//     party first{ready_, wait_for(event)};
//     first.stop();
//     ready_.run();
//     EXPECT_EQ(first.how(), "cancelled");
//   }
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/result.hpp>
#include <weft/coro/manual_scheduler.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/task.hpp>

namespace weft {

/// Spawned at once, so its start is queued. Ends before the test does.
template <class T>
class party {
 public:
  party(manual_scheduler& ready, task<result<T>> work, deadline until = deadline::never())
      : tasks_{environment{.until = until, .runs_on = &ready}} {
    tasks_.spawn([](task<result<T>> inner, std::optional<result<T>>& into) -> task<void> {
      into.emplace(co_await std::move(inner));
    }(std::move(work), ended_));
  }

  void stop() noexcept { tasks_.request_stop(); }

  /// "waits", "done", or the error's name.
  [[nodiscard]] std::string how() const {
    if (!ended_) return "waits";
    return *ended_ ? "done" : to_string(ended_->error().code());
  }
  /// Of one who is done.
  [[nodiscard]] auto& value() { return **ended_; }

 private:
  scope tasks_;
  std::optional<result<T>> ended_;
};

class party_fixture : public ::testing::Test {
 protected:
  ~party_fixture() override {
    EXPECT_FALSE(ready_.has_timers());
    EXPECT_EQ(frame_pool::live_frames(), frames_before_);
  }

  /// A deadline so far ahead.
  [[nodiscard]] deadline in(duration length) const { return deadline::at(ready_.now() + length); }
  void pass(duration length) {
    ready_.pass(length);
    ready_.run();
  }

  std::size_t frames_before_ = frame_pool::live_frames();
  manual_scheduler ready_;
};

}  // namespace weft
