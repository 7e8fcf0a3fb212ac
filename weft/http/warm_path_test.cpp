// The gate: a warm request on a kept connection allocates nothing, and an idle connection is small.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include <weft/coro/frame_pool.hpp>
#include <weft/http/server_world_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::http {
namespace {

using testing::allocation_counter;
using testing::http_client;

/// AddressSanitizer builds take every coroutine frame from the heap, to see its misuse.
bool frames_are_pooled() {
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  const allocation_counter since;
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  return since.allocations() == 0;
}

class warm_path : public each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    if (!frames_are_pooled()) GTEST_SKIP() << "frames come from the heap in this build";
  }

  /// Asks `count` times, at most `at_once` at a time, and allocates nothing itself.
  static task<std::size_t> ask(http_client& client, std::string_view requests,
                               std::size_t reply_bytes, int count) {
    std::size_t received = 0;
    for (; count > 0; --count) {
      if (!co_await client.stream().write(requests)) break;
      for (std::size_t left = reply_bytes; left > 0;) {
        const auto bytes = co_await client.stream().read();
        if (!bytes) co_return received;
        left -= std::min(left, bytes->size());
        received += bytes->size();
      }
    }
    co_return received;
  }

  void expect_no_allocation(std::string_view requests) {
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      co_await client.send(requests);
      const std::size_t replies_bytes = (co_await client.receive()).size();
      EXPECT_EQ(co_await ask(client, requests, replies_bytes, 100), 100 * replies_bytes);
      const allocation_counter since;
      const std::size_t received = co_await ask(client, requests, replies_bytes, 1'000);
      const std::uint64_t allocations = since.allocations();
      const std::uint64_t frees = since.frees();
      EXPECT_EQ(received, 1'000 * replies_bytes);
      EXPECT_EQ(allocations, 0U);
      EXPECT_EQ(frees, 0U);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, warm_path, backends, backend_name);

constexpr std::string_view ping_request =
    "POST /ping HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: test\r\nAccept: */*\r\n"
    "Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"sequence\":2}";

TEST_P(warm_path, of_a_ping_allocates_nothing) {
  http().post("/ping", [](ping p) { return p; });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_a_ping_to_a_coroutine_allocates_nothing) {
  event_loop& turning = loop();
  http().post("/ping", [&turning](ping p) -> task<ping> {
    co_await yield{turning};
    co_return p;
  });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_a_coroutine_that_does_not_wait_allocates_nothing) {
  http().post("/ping", [](ping p) -> task<result<ping>> { co_return p; });
  expect_no_allocation(ping_request);
}

TEST_P(warm_path, of_pipelined_pings_allocates_nothing) {
  http().post("/ping", [](ping p) { return p; });
  expect_no_allocation(repeated(ping_request, 8));
}

TEST_P(warm_path, of_a_refusal_by_the_router_allocates_nothing) {
  http().post("/ping", [](ping p) { return p; });
  expect_no_allocation("GET /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST_P(warm_path, of_an_idle_connection_is_small) {
  http().post("/ping", [](ping p) { return p; });
  run([&]() -> task<void> {
    constexpr std::size_t count = 200;
    std::vector<http_client> clients;
    clients.reserve(count);
    co_return;
  });
}

}  // namespace
}  // namespace weft::http
