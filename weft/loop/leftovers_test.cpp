#include <weft/loop/leftovers.hpp>

#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

class leftovers_test : public on_any_backend {
 protected:
  task<void> sleep_long() { std::ignore = co_await sleep_for(*loop_, std::chrono::hours{1}); }
  task<void> wait_inside() { co_await sleep_long(); }

  void end() {
    loop_->request_stop();
    loop_->run();
  }
};

INSTANTIATE_TEST_SUITE_P(backends, leftovers_test, every_backend, backend_name);

TEST_P(leftovers_test, nothing_left_is_not_worth_a_line) {
  EXPECT_TRUE(leftovers(*loop_).empty());
  loop_->spawn(sleep_long());
  settle();
  end();
  EXPECT_TRUE(leftovers(*loop_).empty());
}

TEST_P(leftovers_test, counts_what_is_left_and_names_the_tasks) {
  for (int i = 0; i < 3; ++i) loop_->spawn(wait_inside());
  loop_->spawn(sleep_long());
  settle();
  const buffer_ref held = loop_->buffers().acquire();
  const std::vector<std::string> lines = leftovers(*loop_);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "shard 0 has left: 4 tasks, 4 timers, 1 buffer, 0 operations");
  EXPECT_TRUE(lines[1].starts_with("  3 tasks wait in ")) << lines[1];
  EXPECT_NE(lines[1].find("wait_inside"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("sleep_long", lines[1].find(" > ")), std::string::npos) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("  1 task waits in ")) << lines[2];
  end();
}

TEST_P(leftovers_test, many_places_are_counted_beyond_the_first) {
  std::vector<task<void>> chains;
  for (int depth = 0; depth < 40; ++depth) {
    task<void> chain = sleep_long();
    for (int i = 0; i < depth; ++i)
      chain = [](task<void> inner) -> task<void> { co_await std::move(inner); }(std::move(chain));
    loop_->spawn(std::move(chain));
  }
  settle();
  const std::vector<std::string> lines = leftovers(*loop_);
  EXPECT_EQ(lines.size(), 1U + 32 + 1);
  EXPECT_EQ(lines.back(), "  8 tasks wait in other places");
  end();
}

class leftover_operations_test : public on_any_backend {};

INSTANTIATE_TEST_SUITE_P(backends, leftover_operations_test, kernel_backends, backend_name);

TEST_P(leftover_operations_test, those_of_the_kernel_are_counted) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  loop_->spawn([](event_loop& loop, int fd) -> task<void> {
    std::ignore = co_await readable(loop, fd);
  }(*loop_, ends[0]));
  settle();
  EXPECT_EQ(leftovers(*loop_).at(0), "shard 0 has left: 1 task, 0 timers, 0 buffers, 1 operation");
  loop_->request_stop();
  loop_->run();
  EXPECT_TRUE(leftovers(*loop_).empty());
  ::close(ends[0]);
  ::close(ends[1]);
}

/// What the log says while one lives.
class log_lines {
 public:
  log_lines() {
    log::set_sink([](log::level, std::string_view line,
                     void* to) { static_cast<log_lines*>(to)->all += std::string{line} + '\n'; },
                  this);
  }
  log_lines(const log_lines&) = delete;
  log_lines& operator=(const log_lines&) = delete;
  ~log_lines() { log::set_sink(nullptr, nullptr); }

  std::string all;
};

class loop_end_test : public on_any_backend {};

INSTANTIATE_TEST_SUITE_P(backends, loop_end_test, every_backend, backend_name);

TEST_P(loop_end_test, a_loop_that_has_all_back_says_nothing) {
  const log_lines said;
  loop_->spawn([](event_loop& loop) -> task<void> {
    std::ignore = co_await sleep_for(loop, std::chrono::milliseconds{1});
  }(*loop_));
  loop_->run();
  loop_.reset();
  EXPECT_EQ(said.all, "");
}

TEST(loop_end_death_test, a_loop_that_ends_before_its_buffers_are_back_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_early = [] {
    auto loop = event_loop::create({.backend = backend_kind::simulated});
    std::uint32_t slot = 0;
    std::ignore = (*loop)->buffers().take(slot);
  };
  EXPECT_DEATH(end_early(), "shard 0 has left: 0 tasks, 0 timers, 1 buffer, 0 operations");
}

TEST(loop_end_death_test, a_loop_that_ends_before_its_tasks_names_them) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_early = [] {
    auto loop = event_loop::create({.backend = backend_kind::simulated});
    (*loop)->spawn([](event_loop& on) -> task<void> {
      std::ignore = co_await sleep_for(on, std::chrono::hours{1});
    }(**loop));
    (*loop)->run_once(time_point::min());
  };
  EXPECT_DEATH(end_early(), "1 task waits in .*leftovers_test.cpp:(.|\n)*a scope ends after");
}

}  // namespace
}  // namespace weft
