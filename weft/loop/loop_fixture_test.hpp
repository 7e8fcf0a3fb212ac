// What the tests of loops share: a loop on the backend of the test's choice, and the check that
// nothing was left behind.
//
// Contract: a suite derives from on_any_backend (parametrised) or in_memory (whose clock is exact).
// A backend that this machine does not have skips the test. After each test the loop is destroyed,
// and timers and coroutine frames are counted.
//
//   using sleep_time_test = in_memory;
//   TEST_F(sleep_time_test, lasts_as_long_as_asked) { loop_->spawn(...); loop_->run(); }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {

/// How a wait ended, once it has.
using outcome = std::optional<result<void>>;

/// A loop on one backend, and the check that nothing was left behind.
class loop_fixture : public ::testing::Test {
 protected:
  void open(loop_options options) {
    auto made = event_loop::create(options);
    if (!made && options.backend == backend_kind::io_uring)
      GTEST_SKIP() << "io_uring is not to be had here";
    ASSERT_TRUE(made) << made.error().message();
    loop_ = std::move(*made);
  }
  void TearDown() override {
    if (loop_ == nullptr) return;
    EXPECT_EQ(loop_->timers().armed_count(), 0U);
    loop_.reset();
    EXPECT_EQ(frame_pool::live_frames(), frames_before_);
  }

  /// Lets all that can run without waiting run.
  void settle() {
    for (int i = 0; i < 8; ++i) loop_->run_once(time_point::min());
  }

  std::size_t frames_before_ = frame_pool::live_frames();
  std::unique_ptr<event_loop> loop_;
};

class on_any_backend : public loop_fixture, public ::testing::WithParamInterface<backend_kind> {
 protected:
  void SetUp() override { open({.backend = GetParam()}); }
};

class in_memory : public loop_fixture {
 protected:
  void SetUp() override { open({.backend = backend_kind::simulated}); }
};

inline std::string backend_name(const ::testing::TestParamInfo<backend_kind>& info) {
  return std::string{to_string(info.param)};
}
inline const auto every_backend =
    ::testing::Values(backend_kind::simulated, backend_kind::epoll, backend_kind::io_uring);
/// Those with file descriptors of the system, and other threads.
inline const auto kernel_backends = ::testing::Values(backend_kind::epoll, backend_kind::io_uring);

}  // namespace weft
