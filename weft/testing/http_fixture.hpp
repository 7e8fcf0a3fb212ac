// GoogleTest fixtures around an http_world: on one backend, or on each in turn.
//
// Contract: each test has a world of its own, made before it; coroutine frames left behind fail it,
// and logging is off meanwhile. Header only: who includes it brings GoogleTest.
//
//   class orders_test : public weft::testing::each_backend {};
//   INSTANTIATE_TEST_SUITE_P(on, orders_test, backends, backend_name);   // both weft::testing's
//   TEST_P(orders_test, answers) {
//     http().get("/", [] { return "hello"; });
//     run([&]() -> weft::task<void> { ... });
//   }
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http_world.hpp>

namespace weft::testing {

/// A world on one backend.
class server_world : public ::testing::Test {
 protected:
  void SetUp() override {
    log::set_level(log::level::off);
    frames_before_ = frame_pool::live_frames();
  }

  void TearDown() override {
    world_.reset();
    EXPECT_EQ(frame_pool::live_frames(), frames_before_) << "frames left behind";
    log::set_level(log::level::info);
  }

  void serve(backend_kind kind, const http::limits& bounds = {}) {
    // What idle clients are given at the end would be a tenth of a second for each test.
    serve(kind, http::server_options{.drain_idle = duration::zero(), .limits = bounds});
  }
  void serve(backend_kind kind, http::server_options options) {
    world_.reset();
    world_.emplace(kind, std::move(options));
  }

  [[nodiscard]] http_world& world() noexcept { return *world_; }
  [[nodiscard]] http::server& http() noexcept { return world_->server(); }
  [[nodiscard]] event_loop& loop() noexcept { return world_->loop(); }

  template <class F>
  void run(F body) {
    world_->run(std::move(body));
  }

 private:
  std::optional<http_world> world_;
  std::size_t frames_before_ = 0;
};

/// The same on each backend in turn.
class each_backend : public server_world, public ::testing::WithParamInterface<backend_kind> {
 protected:
  void SetUp() override {
    server_world::SetUp();
    serve(GetParam());
  }
  void serve_within(const http::limits& bounds) { serve(GetParam(), bounds); }
  using server_world::serve;
};

/// In memory, where the bytes of one send come in one receive and time is virtual.
class in_memory : public server_world {
 protected:
  void SetUp() override {
    server_world::SetUp();
    serve(backend_kind::simulated);
  }
  void serve_within(const http::limits& bounds) { serve(backend_kind::simulated, bounds); }
};

inline const auto backends =
    ::testing::Values(backend_kind::simulated, backend_kind::epoll, backend_kind::io_uring);

inline std::string backend_name(const ::testing::TestParamInfo<backend_kind>& info) {
  return std::string{to_string(info.param)};
}

/// `count` copies of `text`.
inline std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (; count > 0; --count) all += text;
  return all;
}

}  // namespace weft::testing
