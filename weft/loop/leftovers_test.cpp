#include <weft/loop/leftovers.hpp>

#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

class leftovers_test : public on_any_backend {
 protected:
  task<void> sleep_long() { std::ignore = co_await sleep_for(*loop_, std::chrono::hours{1}); }
  static task<void> wait_for(event& that) { std::ignore = co_await that.wait(); }
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
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "shard 0 has left: 4 tasks, 4 timers, 1 buffer, 0 operations");
  EXPECT_TRUE(lines[1].starts_with("  3 tasks wait in ")) << lines[1];
  EXPECT_NE(lines[1].find("wait_inside"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("sleep_long", lines[1].find(" > ")), std::string::npos) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("  1 task waits in ")) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("  4 timers: sleep in ")) << lines[3];
  EXPECT_TRUE(lines[4].starts_with("  1 buffer of 16384 bytes that the program holds: slot "))
      << lines[4];
  end();
}

std::string timer_line(event_loop& loop, std::string_view name) {
  for (const std::string& line : leftovers(loop))
    if (line.find(name) != std::string::npos && line.find(" timer") != std::string::npos)
      return line;
  return "no such line";
}

TEST_P(leftovers_test, a_timer_is_named_by_what_waits_with_it_and_when_it_is_due) {
  loop_->spawn(sleep_long());
  settle();
  const std::string sleeps = timer_line(*loop_, "sleep in ");
  EXPECT_TRUE(sleeps.starts_with("  1 timer: sleep in ")) << sleeps;
  EXPECT_NE(sleeps.find("sleep_long"), std::string::npos) << sleeps;
  EXPECT_NE(sleeps.find("leftovers_test.cpp:"), std::string::npos) << sleeps;
  if (GetParam() == backend_kind::simulated) {
    EXPECT_TRUE(sleeps.ends_with(", due in 3600.000 s")) << sleeps;
  } else {
    EXPECT_NE(sleeps.find(", due in 3"), std::string::npos) << sleeps;
  }
  end();
}

TEST_P(leftovers_test, the_deadline_of_a_wait_is_named_and_the_first_of_equal_ones_told) {
  event never;
  for (int i = 1; i <= 3; ++i)
    loop_->spawn([](event_loop& loop, event& that, int hours) -> task<void> {
      const auto until = deadline::at(loop.now() + std::chrono::hours{hours});
      co_await with_deadline(until, wait_for(that));
    }(*loop_, never, i));
  settle();
  const std::string waits = timer_line(*loop_, "deadline of a wait in line in ");
  EXPECT_TRUE(waits.starts_with("  3 timers: ")) << waits;
  EXPECT_NE(waits.find(", the first due in 3"), std::string::npos) << waits;
  EXPECT_NE(waits.find("leftovers_test.cpp:"), std::string::npos) << waits;
  end();
}

struct nobodys_timer : timer {
  nobodys_timer() noexcept : timer{kept} {}
  static void fire(timer& /*self*/) noexcept {}
  static constexpr timer_kind kept{.on_expiry = &fire, .name = "patience"};
};

TEST_P(leftovers_test, a_timer_of_no_task_is_named_by_what_it_is_for) {
  nobodys_timer left;
  loop_->timers().arm(left, loop_->now() - std::chrono::seconds{1});
  EXPECT_EQ(timer_line(*loop_, "patience"), "  1 timer: patience, due in 0.000 s");
  loop_->timers().disarm(left);
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
  ASSERT_EQ(lines.size(), 1U + 32 + 1 + 1);
  EXPECT_EQ(lines[33], "  8 tasks wait in other places");
  EXPECT_TRUE(lines[34].starts_with("  40 timers: sleep in ")) << lines[34];
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
