// Several shards on threads of their own, for one test: what shard 0 does is the test, the others
// serve it.
//
//   using my_test = on_shards;
//   TEST_P(my_test, says_so) {
//     run(4, [](event_loop& loop) -> task<void> { co_await on(3, ...); });
//   }
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/loop/make_backend.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/runtime.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {

class on_shards : public ::testing::TestWithParam<backend_kind> {
 protected:
  void SetUp() override {
    if (!event_loop::create({.backend = GetParam()}))
      GTEST_SKIP() << "io_uring is not to be had here";
  }

  void run(unsigned count, auto body) { run({.shards = count}, std::move(body)); }

  void run(runtime_options options, auto body) {
    options.pin = pinning::never;
    options.loop.backend = GetParam();
    runtime shards{options};
    shards_ = &shards.shards();
    const auto first = [&](event_loop& loop) -> task<void> {
      co_await body(loop);
      shards.request_stop();
    };
    const auto up = shards.run([&](event_loop& loop) {
      return loop.shard() == 0 ? first(loop) : [](event_loop&) -> task<void> { co_return; }(loop);
    });
    EXPECT_TRUE(up) << up.error().message();
    shards_ = nullptr;
  }

  mesh* shards_ = nullptr;
};

inline std::string shards_backend_name(const ::testing::TestParamInfo<backend_kind>& info) {
  return std::string{to_string(info.param)};
}
inline const auto threaded_backends =
    ::testing::Values(backend_kind::epoll, backend_kind::io_uring);

}  // namespace weft
