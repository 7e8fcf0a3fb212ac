#include <weft/store/mysql/retry_pace.hpp>

#include <chrono>
#include <set>

#include <gtest/gtest.h>

namespace weft::store::mysql {
namespace {

using std::chrono::milliseconds;

constexpr time_point start{std::chrono::hours{1}};

/// How long it is closed for after a failure at `start`.
duration pause_of(retry_pace& pace) {
  pace.failed(start);
  duration pause{};
  while (!pace.is_open(start + pause)) pause += milliseconds{1};
  return pause;
}

TEST(mysql_retry_pace_test, pauses_grow_up_to_a_bound) {
  retry_pace pace{milliseconds{100}, milliseconds{800}, 1};
  EXPECT_TRUE(pace.is_open(start));
  for (const int full : {100, 200, 400, 800, 800, 800}) {
    const duration pause = pause_of(pace);
    EXPECT_GE(pause, milliseconds{full / 2});
    EXPECT_LE(pause, milliseconds{full});
  }
}

TEST(mysql_retry_pace_test, a_success_ends_them) {
  retry_pace pace{milliseconds{100}, milliseconds{800}, 1};
  for (int i = 0; i < 4; ++i) pace.failed(start);
  EXPECT_FALSE(pace.is_open(start));
  pace.succeeded();
  EXPECT_TRUE(pace.is_open(start));
  EXPECT_LE(pause_of(pace), milliseconds{100});
}

TEST(mysql_retry_pace_test, no_two_shards_come_back_together) {
  std::set<duration> pauses;
  for (unsigned shard = 0; shard < 16; ++shard) {
    retry_pace pace{milliseconds{1000}, milliseconds{1000}, shard};
    pauses.insert(pause_of(pace));
  }
  EXPECT_GT(pauses.size(), 12U);
}

}  // namespace
}  // namespace weft::store::mysql
