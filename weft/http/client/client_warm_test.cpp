// The gate: a typed request over a kept connection allocates nothing.
#include <cstdint>
#include <string>
#include <utility>

#include <weft/coro/frame_pool.hpp>
#include <weft/telemetry/trace_context.hpp>
#include <weft/testing/allocation_counter.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::allocation_counter;
using testing::backend_name;
using testing::backends;
using testing::client_fixture;

struct warm_item {
  std::int64_t id = 0;
  std::string name;
};

class warm_client : public client_fixture {
 protected:
  void SetUp() override {
    client_fixture::SetUp();
    frame_pool::deallocate(frame_pool::allocate(64), 64);
    const allocation_counter since;
    frame_pool::deallocate(frame_pool::allocate(64), 64);
    if (since.allocations() != 0) GTEST_SKIP() << "frames come from the heap in this build";
  }

  template <class F>
  void expect_no_allocation(F ask, client_options options = {}) {
    run_with_client(std::move(options), [&](client& asking) -> task<void> {
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(co_await ask(asking));
      int good = 0;
      const allocation_counter since;
      for (int i = 0; i < 1'000; ++i) good += co_await ask(asking) ? 1 : 0;
      const std::uint64_t allocations = since.allocations();
      EXPECT_EQ(good, 1'000);
      EXPECT_EQ(allocations, 0U);
      EXPECT_EQ(counted("http_client_connections_total"), 1);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, warm_client, backends, backend_name);

TEST_P(warm_client, gets_a_value_and_allocates_nothing) {
  http().get("/items/{id}", [] { return warm_item{7, "seven"}; });
  expect_no_allocation([&, at = std::string{}](client& asking) mutable -> task<bool> {
    if (at.empty()) at = url("/items/7");
    const auto got = co_await asking.get<warm_item>(at);
    co_return got && got->id == 7;
  });
}

TEST_P(warm_client, tells_deadline_and_trace_and_allocates_nothing) {
  http().get("/items/{id}", [] { return warm_item{7, "seven"}; });
  telemetry::trace_context trace;
  ASSERT_TRUE(trace.read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b"));
  expect_no_allocation([&, at = std::string{}](client& asking) mutable -> task<bool> {
    if (at.empty()) at = url("/items/7");
    environment env = co_await this_task::environment();
    env.until = deadline::at(loop().now() + std::chrono::seconds{20});
    env.trace = &trace;
    const auto got = co_await asking.get<warm_item>(at).in(env);
    co_return got && got->id == 7;
  });
}

TEST_P(warm_client, posts_a_value_and_allocates_nothing) {
  http().post("/items", [](warm_item item) { return item; });
  expect_no_allocation([&, at = std::string{}](client& asking) mutable -> task<bool> {
    if (at.empty()) at = url("/items");
    const auto got = co_await asking.post<warm_item>(at, warm_item{8, "eight"});
    co_return got && got->name == "eight";
  });
}

TEST_P(warm_client, allocates_nothing_over_http2_either) {
  http().post("/items", [](warm_item item) { return item; });
  http().get("/items/{id}", [] { return warm_item{7, "seven"}; });
  expect_no_allocation(
      [&, at = std::string{}, one = std::string{}](client& asking) mutable -> task<bool> {
        if (at.empty()) at = url("/items");
        if (one.empty()) one = url("/items/7");
        const auto posted = co_await asking.post<warm_item>(at, warm_item{8, "eight"});
        const auto got = co_await asking.get<warm_item>(one);
        co_return posted && posted->name == "eight" && got && got->id == 7;
      },
      {.http2 = client_http2::always});
}

}  // namespace
}  // namespace weft::http
