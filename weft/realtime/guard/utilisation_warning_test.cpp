// Whose allocations those of weft's own warning are.
#include <weft/realtime/utilisation.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <tuple>

#include <weft/base/log.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/realtime/allocation_guard.hpp>
#include <weft/realtime/periodic.hpp>

namespace weft::realtime {
namespace {

using std::chrono::milliseconds;

class utilisation_warning : public loop_fixture {
 protected:
  void SetUp() override {
    open({.backend = backend_kind::epoll});
    log::set_sink(
        [](log::level, std::string_view line, void* into) {
          if (line.starts_with("periodic tasks want")) ++*static_cast<int*>(into);
        },
        &warnings_);
  }
  void TearDown() override {
    log::set_sink(nullptr, nullptr);
    loop_fixture::TearDown();
  }
  int warnings_ = 0;
};

TEST_F(utilisation_warning, is_neither_the_runs_that_took_too_long_nor_counted_as_its) {
  int warnings_at_miss = -1;
  std::uint64_t allocations = 0;
  const auto work = [&](event_loop& loop) -> task<void> {
    periodic clock{loop, {.period = milliseconds{20}}};
    clock.on_miss([&](const deadline_miss&) { warnings_at_miss = warnings_; });
    std::ignore = co_await clock.next();
    const allocation_guard guard{on_allocation::count};
    const duration before = thread_usage::read_processor();
    while (thread_usage::read_processor() - before < milliseconds{25}) {}
    std::ignore = co_await clock.next();
    std::ignore = co_await clock.next();
    allocations = guard.allocations();
  };
  loop_->spawn(work(*loop_));
  loop_->run();
  EXPECT_EQ(allocations, 0U);
  EXPECT_EQ(warnings_at_miss, 0);
  EXPECT_EQ(warnings_, 1);
}

}  // namespace
}  // namespace weft::realtime
