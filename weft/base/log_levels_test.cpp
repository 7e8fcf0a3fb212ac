#include <weft/base/log_levels.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

namespace log = weft::log;
using log::level;

class log_levels : public ::testing::Test {
 protected:
  ~log_levels() override {
    log::forget_named_levels();
    log::set_level(level::info);
  }
};

void say(std::string_view name, level lowest) { ASSERT_TRUE(log::set_level(name, lowest)); }

TEST_F(log_levels, the_longest_name_that_fits_counts) {
  say("http", level::warning);
  say("http.server", level::debug);
  EXPECT_EQ(log::level_of("http"), level::warning);
  EXPECT_EQ(log::level_of("http.client"), level::warning);
  EXPECT_EQ(log::level_of("http.server"), level::debug);
  EXPECT_EQ(log::level_of("http.server.limits"), level::debug);
  EXPECT_EQ(log::level_of("http.servers"), level::warning) << "names end at a point";
  EXPECT_EQ(log::level_of("https"), level::info) << "the program's";
  log::set_level(level::off);
  EXPECT_EQ(log::level_of("https"), level::off);
  EXPECT_EQ(log::level_of("http.server"), level::debug);
  say("http.server", level::error);
  EXPECT_EQ(log::level_of("http.server"), level::error);
  log::forget_named_levels();
  EXPECT_EQ(log::level_of("http.server"), level::off);
}

TEST_F(log_levels, are_bounded) {
  EXPECT_EQ(log::set_level("", level::off).error(), weft::errc::invalid_argument);
  for (std::size_t i = 0; i < log::named_levels_max; ++i)
    say("name" + std::to_string(i), level::off);
  EXPECT_EQ(log::set_level("one too many", level::off).error(), weft::errc::limit_exceeded);
  say("name7", level::trace);
  EXPECT_EQ(log::level_of("name7"), level::trace);
}

TEST_F(log_levels, a_cache_is_right_until_a_level_changes) {
  log::detail::cached_level cache;
  EXPECT_FALSE(cache.is_current());
  EXPECT_EQ(cache.refresh("store"), level::info);
  EXPECT_TRUE(cache.is_current());
  EXPECT_EQ(cache.get(), level::info);
  log::set_level(level::off);
  EXPECT_FALSE(cache.is_current());
  EXPECT_EQ(cache.refresh("store"), level::off);
  say("store", level::trace);
  EXPECT_FALSE(cache.is_current());
  EXPECT_EQ(cache.refresh("store"), level::trace);
  EXPECT_EQ(cache.get(), level::trace);
  log::forget_named_levels();
  EXPECT_FALSE(cache.is_current());
}

TEST_F(log_levels, a_cache_that_says_it_is_current_is_right_on_every_thread) {
  log::detail::cached_level cache;
  std::atomic<bool> done{false};
  std::thread changes{[&done] {
    for (int i = 0; i < 2'000; ++i) log::set_level(i % 2 == 0 ? level::trace : level::error);
    done = true;
  }};
  while (!done)
    if (!cache.is_current()) cache.refresh("any");
  changes.join();
  if (!cache.is_current()) cache.refresh("any");
  EXPECT_EQ(cache.get(), level::error);
}

}  // namespace
